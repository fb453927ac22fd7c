/** The calls with which admins add webhooks, look at their deliveries and send them again. */
import { randomBytes, randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { MAX_WEBHOOKS } from '@arcade/contract/webhooks/fields'
import type { Webhook, WebhookDelivery } from '@arcade/contract/webhooks/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { webhookRecord } from '#src/webhooks/deliveries.ts'
import { refusalOf } from '#src/webhooks/post.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'

/** Latest deliveries of a webhook that are listed. */
const SHOWN = 50
const BY_ID = sql.raw(idOrderSql('id'))
const iso = (column: string) => sql.raw(isoSql(column))

export function webhooksHandlers({
  database,
  secretKey,
  networks,
}: {
  database: Database
  secretKey: SecretKey
  /** Networks that are not public but allowed (WEBHOOK_NETWORKS). */
  networks: readonly string[]
}): Handlers<typeof contract.webhooks> {
  const { db } = database
  return {
    async list() {
      const { rows } = await sql<Webhook>`
        select id, url, events, ${iso('created_at')} as "createdAt", switched_off_at is null as "isActive", alert,
               ${iso('failing_since')} as "failingSince",
               (select count(*) from webhook_deliveries where webhook_id = webhooks.id and next_at is not null) as waiting
          from webhooks order by created_at, ${BY_ID}`.execute(db)
      return { webhooks: rows }
    },

    async create({ url, events }, context) {
      const before = async (): Promise<void> => {
        const message = await refusalOf(url, networks)
        if (message !== undefined) throw new Failure('INVALID_INPUT', { message, fields: { url: message } })
      }
      const create = async (tx: Transaction<Tables>): Promise<string> => {
        // Locks the table, so that simultaneous requests cannot exceed the limit.
        await sql`lock table webhooks in share row exclusive mode`.execute(tx)
        const { rows } = await sql<{ count: number }>`select count(*) as count from webhooks`.execute(tx)
        if (rows[0]!.count >= MAX_WEBHOOKS) throw new Failure('TOO_MANY_WEBHOOKS')
        const row = { id: randomUUID(), url, events, secret: secretKey.encrypt(`whsec_${randomBytes(32).toString('base64')}`) }
        await tx.insertInto('webhooks').values(row).execute()
        await audit(tx, actOf(context), 'webhook.create', { record: webhookRecord(row), detail: { events } })
        return row.id
      }
      const id = await createOnce(database, context, { before, create })
      // The kept answer is the id alone, because nothing may keep the secret unencrypted.
      const made = await db.selectFrom('webhooks').select('secret').where('id', '=', id).executeTakeFirst()
      if (!made) throw new Failure('NO_SUCH_WEBHOOK')
      return { success: true, id, secret: secretKey.decrypt(made.secret) }
    },

    async setActive({ id, isActive }, context) {
      await database.transaction(async (tx) => {
        const before = await lock(tx, id)
        if (before.isActive === isActive) return
        await sql`update webhooks set switched_off_at = case when ${isActive}::boolean then null else now() end, failing_since = null,
            alert = null where id = ${id}`.execute(tx)
        const changes = { isActive: [!isActive, isActive] as const }
        await audit(tx, actOf(context), 'webhook.switch', { record: webhookRecord(before), changes })
      })
      return { success: true }
    },

    async remove({ id }, context) {
      await database.transaction(async (tx) => {
        const before = await lock(tx, id)
        await tx.deleteFrom('webhooks').where('id', '=', id).execute()
        await audit(tx, actOf(context), 'webhook.remove', { record: webhookRecord(before) })
      })
      return { success: true }
    },

    async test({ id }) {
      await database.transaction(async (tx) => {
        const { isActive } = await lock(tx, id)
        if (!isActive) throw new Failure('WEBHOOK_OFF')
        const payload = JSON.stringify({ type: 'test', timestamp: new Date().toISOString(), data: {} })
        await tx
          .insertInto('webhook_deliveries')
          .values({ id: `msg_${randomUUID()}`, webhook_id: id, event: 'test', payload, result: null })
          .execute()
      })
      return { success: true }
    },

    async deliveries({ id }) {
      const { rows } = await sql<WebhookDelivery>`
        select id, event, payload, attempts, result, ${iso('created_at')} as "createdAt", ${iso('tried_at')} as "triedAt",
               ${iso('next_at')} as "nextAt",
               case when next_at is not null then 'waiting' when delivered_at is null then 'failed' else 'delivered' end as state
          from webhook_deliveries where webhook_id = ${id} order by webhook_deliveries.created_at desc, ${BY_ID} limit ${SHOWN}`.execute(
        db,
      )
      if (rows.length === 0) {
        const found = await db.selectFrom('webhooks').select('id').where('id', '=', id).executeTakeFirst()
        if (!found) throw new Failure('NO_SUCH_WEBHOOK')
      }
      return { deliveries: rows }
    },

    /** Sends a delivery again, with the full number of attempts. */
    async replay({ id, deliveryId }, context) {
      await database.transaction(async (tx) => {
        const before = await lock(tx, id)
        const { numAffectedRows } = await sql`update webhook_deliveries set next_at = now(), attempts = 0, delivered_at = null
          where id = ${deliveryId} and webhook_id = ${id}`.execute(tx)
        if (numAffectedRows === 0n) throw new Failure('NO_SUCH_WEBHOOK')
        await audit(tx, actOf(context), 'webhook.replay', { record: webhookRecord(before), detail: { delivery: deliveryId } })
      })
      return { success: true }
    },
  }
}

async function lock(tx: Transaction<Tables>, id: string): Promise<{ id: string; url: string; isActive: boolean }> {
  const found = await tx
    .selectFrom('webhooks')
    .select(['id', 'url', 'switched_off_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!found) throw new Failure('NO_SUCH_WEBHOOK')
  return { id, url: found.url, isActive: found.switched_off_at === null }
}

/**
 * Sends the queued deliveries (ADR 20), signed as Standard Webhooks 1.0 specifies and retried after growing pauses. Any server may send. A
 * server leases a delivery while it sends it, so another one sends it again if the first dies. This module hides the lease, the pauses
 * and the rule by which a webhook is switched off.
 */
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { actOfProcess, audit, type AuditRecord } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import { findPause } from '#src/db/scheduled-work.ts'
import { post } from './post.ts'
import type { SecretKey } from './secret-key.ts'

/** Pauses between attempts, as Standard Webhooks proposes them: the last attempt is more than three days after the first. */
const RETRY_AFTER_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const TIMEOUT_MS = 15_000
/** Seconds for which a server leases a delivery: longer than an attempt can take. */
const LEASE_SECONDS = 60
/** Deliveries that are sent to one webhook at the same time. Each webhook has its own limit, so one that hangs does not delay the others. */
const SENT_AT_ONCE = 4
const KEPT_DAYS = 30
const GONE_STATUS = 410 // Standard Webhooks: the receiver wants no more deliveries

export interface DeliveriesOptions {
  database: Database
  key: SecretKey
  /** Networks that webhooks may reach although they are not public. */
  networks: readonly string[]
  log: Logger
  /** How long one attempt may take; tests set a shorter time. */
  timeoutMs?: number
}

export interface Deliveries {
  /** Sends the due deliveries and resolves when all of them have ended. A call during another one starts only what the limits allow. */
  sendDue(): Promise<void>
  /** Deletes deliveries that succeeded or were given up long ago. */
  sweep(): Promise<void>
}

interface Leased {
  id: string
  webhookId: string
  payload: string
  attempts: number
  url: string
  secret: Buffer
}

interface Attempt {
  isGood: boolean
  isGone: boolean
  /** A sentence that operators see. */
  text: string
}

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  return new DeliveryQueue(options)
}

class DeliveryQueue implements Deliveries {
  readonly #database: Database
  readonly #key: SecretKey
  readonly #networks: readonly string[]
  readonly #log: Logger
  readonly #timeoutMs: number
  /** The number of deliveries that this server is sending, by webhook. */
  readonly #sending = new Map<string, number>()
  #lastLease: Promise<unknown> = Promise.resolve()

  constructor({ database, key, networks, log, timeoutMs = TIMEOUT_MS }: DeliveriesOptions) {
    this.#database = database
    this.#key = key
    this.#networks = networks
    this.#log = log
    this.#timeoutMs = timeoutMs
  }

  async sendDue(): Promise<void> {
    if (await findPause(this.#database.db)) return
    for (;;) {
      const leased = await this.#lease()
      if (leased.length === 0) return
      await Promise.all(leased.map((delivery) => this.#send(delivery)))
    }
  }

  async sweep(): Promise<void> {
    await sql`delete from webhook_deliveries
      where next_at is null and created_at < now() - make_interval(days => ${KEPT_DAYS})`.execute(this.#database.db)
  }

  /** Leases one batch after the other, so that each counts the deliveries that the one before has leased. */
  #lease(): Promise<Leased[]> {
    const leased = this.#lastLease.then(() => this.#leaseBatch())
    this.#lastLease = leased.catch(() => undefined)
    return leased
  }

  /** Leases the due deliveries, up to SENT_AT_ONCE for each webhook. */
  async #leaseBatch(): Promise<Leased[]> {
    const [webhooks, counts] = [[...this.#sending.keys()], [...this.#sending.values()]]
    const { rows } = await sql<Leased>`
      with due as materialized (
        select id from (
          select d.id, coalesce(under_way.count, 0) + row_number() over (partition by d.webhook_id order by next_at, d.id) as ordinal
            from webhook_deliveries d join webhooks w on w.id = webhook_id
            left join unnest(${webhooks}::text[], ${counts}::int[]) as under_way (webhook_id, count)
              on under_way.webhook_id = d.webhook_id
           where next_at <= now() and switched_off_at is null) as waiting
         where ordinal <= ${SENT_AT_ONCE}),
      leased as materialized (
        select id from webhook_deliveries where id in (select id from due) and next_at <= now() for update skip locked)
      update webhook_deliveries d
         set attempts = attempts + 1, tried_at = now(), next_at = now() + make_interval(secs => ${LEASE_SECONDS})
        from leased, webhooks w where d.id = leased.id and w.id = d.webhook_id
      returning d.id, d.webhook_id as "webhookId", payload, attempts, url, secret`.execute(this.#database.db)
    for (const { webhookId } of rows) this.#sending.set(webhookId, (this.#sending.get(webhookId) ?? 0) + 1)
    return rows
  }

  async #send(delivery: Leased): Promise<void> {
    try {
      const attempt = await this.#attempt(delivery)
      await recordDelivery(this.#database, delivery, attempt)
    } catch (error) {
      this.#log.warn(
        { err: error, delivery: delivery.id },
        'The result of a webhook delivery could not be stored; it will be sent again',
      )
    } finally {
      this.#countSent(delivery.webhookId)
    }
  }

  #countSent(webhookId: string): void {
    const left = (this.#sending.get(webhookId) ?? 1) - 1
    if (left > 0) this.#sending.set(webhookId, left)
    else this.#sending.delete(webhookId)
  }

  async #attempt({ id, url, payload, secret }: Leased): Promise<Attempt> {
    try {
      const headers = signedHeaders({ id, payload, secret: this.#readSecret(secret) })
      const status = await post({ url, headers, body: payload }, { networks: this.#networks, timeoutMs: this.#timeoutMs })
      return { isGood: status >= 200 && status < 300, isGone: status === GONE_STATUS, text: `Answered ${status}` }
    } catch (error) {
      return { isGood: false, isGone: false, text: error instanceof Error ? error.message : String(error) }
    }
  }

  #readSecret(kept: Buffer): string {
    try {
      return this.#key.decrypt(kept)
    } catch {
      throw new Error('The secret cannot be read: SECRET_KEY has changed since the webhook was added')
    }
  }
}

/** Records an attempt. A webhook that fails for a day or answers 410 is switched off; its deliveries stay in the queue. */
async function recordDelivery(
  database: Database,
  { id, webhookId, attempts }: Leased,
  { isGood, isGone, text }: Attempt,
): Promise<void> {
  const pause = RETRY_AFTER_SECONDS[attempts - 1]
  const seconds = isGood || pause === undefined ? null : pause * (0.9 + Math.random() * 0.2)
  await database.transaction(async (tx) => {
    await sql`update webhook_deliveries set result = ${text}, delivered_at = case when ${isGood}::boolean then now() end,
        next_at = now() + make_interval(secs => ${seconds}::float8) where id = ${id}`.execute(tx)
    if (isGood) {
      await sql`update webhooks set failing_since = null where id = ${webhookId} and failing_since is not null`.execute(tx)
      return
    }
    const { rows } = await sql<{ url: string | null }>`
      update webhooks set failing_since = coalesce(failing_since, now()),
             switched_off_at = case when ${isGone}::boolean or failing_since <= now() - interval '1 day' then now() end,
             alert = case when ${isGone}::boolean then 'It answered that it is gone (410), so it was switched off.'
                          when failing_since <= now() - interval '1 day' then 'It has failed for a day, so it was switched off.' end
       where id = ${webhookId} and switched_off_at is null
      returning case when switched_off_at is null then null else url end as url`.execute(tx)
    const url = rows[0]?.url
    if (!url) return
    await audit(tx, actOfProcess('system', 'Webhooks'), 'webhook.switch', {
      record: webhookRecord({ id: webhookId, url }),
      changes: { isActive: [true, false] },
    })
  })
}

/** Returns a webhook as an audit record, without the query of its address, which may contain a secret. */
export function webhookRecord({ id, url }: { id: string; url: string }): AuditRecord {
  const { origin, pathname } = new URL(url)
  return { kind: 'webhook', id, name: origin + pathname }
}

/** Returns the headers of Standard Webhooks 1.0: `v1,` and the HMAC-SHA-256 of id, time and body. @param secret `whsec_` and the key in base64 */
export function signedHeaders(
  { id, payload, secret }: { id: string; payload: string; secret: string },
  now = new Date(),
): Record<string, string> {
  const seconds = String(Math.floor(now.getTime() / 1000))
  const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${seconds}.${payload}`)
    .digest('base64')
  return {
    'content-type': 'application/json',
    'user-agent': 'Arcade-Console',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${signature}`,
  }
}

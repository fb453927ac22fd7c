/**
 * The outbox of webhooks (ADR 20): an act writes the deliveries of its event in its own transaction, so no event lacks its act and no act
 * lacks its event. The audit trail calls this module, because every act passes there. An import, which writes no entry for each record,
 * calls it directly.
 */
import { CompiledQuery, type Kysely } from 'kysely'
import type { AuditAction } from '@arcade/contract/audit/fields'
import { firstCharacters } from '@arcade/contract/text'
import { actsOfEvents } from '@arcade/contract/webhooks/fields'
import { planOnce } from '#src/postgres/connections.ts'
import type { Tables } from '#src/db/tables.ts'

/** The most records that one delivery names, which keeps it below the 20 kB that Standard Webhooks recommends. */
const RECORDS_MAX = 100
/** Characters of a record's name that an event contains: titles may be long, and the bot can read the record itself. */
const NAME_MAX_LENGTH = 100

export interface WebhookRecord {
  kind: string
  id: string
  name?: string | undefined
}

const QUEUE = `
  insert into webhook_deliveries (id, webhook_id, event, payload)
  select 'msg_' || gen_random_uuid(), webhooks.id, $1::text,
         json_build_object('type', $1::text, 'timestamp', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'data', one.data::json)::text
    from webhooks, unnest($2::text[]) as one (data)
   where switched_off_at is null and $1::text = any(events)`
planOnce(QUEUE)

/** Queues the event of an act on these records, if there is one, for each active webhook that is subscribed to it. */
export async function queueEvent(tx: Kysely<Tables>, action: AuditAction, records: readonly WebhookRecord[]): Promise<void> {
  const told = actsOfEvents[action]
  if (!told || records.length === 0) return
  const { event, change } = told
  const payloads: string[] = []
  for (let at = 0; at < records.length; at += RECORDS_MAX) {
    const named = records.slice(at, at + RECORDS_MAX)
    const items = named.map(({ kind, id, name = '' }) => ({ kind, id, title: firstCharacters(name, NAME_MAX_LENGTH) }))
    payloads.push(JSON.stringify({ change, items }))
  }
  await tx.executeQuery(CompiledQuery.raw(QUEUE, [event, payloads]))
}

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
const MAX_RECORDS = 100
/** Characters of a record's name that an event contains: titles may be long, and the bot can read the record itself. */
const MAX_NAME_LENGTH = 100

export interface WebhookRecord {
  kind: string
  id: string
  name?: string | undefined
}

/** An INSERT of the deliveries of an event, for each active webhook that is subscribed to it. @param event, payloads SQL of type text, text[] */
export const queueSql = (event: string, payloads: string): string => `
  insert into webhook_deliveries (id, webhook_id, event, payload)
  select 'msg_' || gen_random_uuid(), webhooks.id, ${event}::text,
         json_build_object('type', ${event}::text, 'timestamp', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'data', one.data::json)::text
    from webhooks, unnest(${payloads}::text[]) as one (data)
   where switched_off_at is null and ${event}::text = any(events)`
const QUEUE = queueSql('$1', '$2')
planOnce(QUEUE)

/** Returns the event of an act on these records and the data of its deliveries, if the act has an event. */
export function eventOf(
  action: AuditAction,
  records: readonly WebhookRecord[],
): { event: string; payloads: string[] } | undefined {
  const eventOfAction = actsOfEvents[action]
  if (!eventOfAction || records.length === 0) return undefined
  const { event, change } = eventOfAction
  const payloads: string[] = []
  for (let at = 0; at < records.length; at += MAX_RECORDS) {
    const named = records.slice(at, at + MAX_RECORDS)
    const items = named.map(({ kind, id, name = '' }) => ({ kind, id, title: firstCharacters(name, MAX_NAME_LENGTH) }))
    payloads.push(JSON.stringify({ change, items }))
  }
  return { event, payloads }
}

/** Queues the event of an act on these records, if it has one. */
export async function queueEvent(tx: Kysely<Tables>, action: AuditAction, records: readonly WebhookRecord[]): Promise<void> {
  const queued = eventOf(action, records)
  if (queued) await tx.executeQuery(CompiledQuery.raw(QUEUE, [queued.event, queued.payloads]))
}

/**
 * Erases what operators wrote about an erased person elsewhere: saved views that look for the person, also those in the trash, and what the
 * audit says about such views, about exports and broadcasts to the person's row or by the person's name, and about the person's invitations.
 */
import { sql, type Transaction } from 'kysely'
import { playerList } from '@arcade/contract/players/fields'
import type { Act } from '#src/audit/audit.ts'
import { audit } from '#src/audit/audit.ts'
import { type ErasableEntry, eraseEntries, lockErasable, textsOf } from '#src/audit/erase.ts'
import type { Tables } from '#src/db/tables.ts'
import { type ErasedPerson, filterAsync, type PersonMatcher, personMatcher } from './person.ts'

export async function eraseMentions(tx: Transaction<Tables>, act: Act, person: ErasedPerson): Promise<void> {
  const matcher = personMatcher(person)
  const views = await eraseViews(tx, act, matcher)
  const ofViews = await lockErasable(tx, sql`action in ('view.create', 'view.update', 'view.remove')`)
  const ownGone = person.kind === 'user' ? await ownViewsThatAreGone(tx, person.id) : []
  const isId = sql`detail::jsonb -> 'ids' ? ${person.id}`
  const ofExports = await lockErasable(tx, sql`action = 'export' and (${isId} or detail::jsonb ? 'filter')`)
  const ofBroadcasts = await lockErasable(tx, sql`action = 'broadcast.create' and detail::jsonb -> 'filter' ? 'search'`)
  const ofInvitations = await lockErasable(tx, sql`record_kind = 'invitation'`)
  await eraseBroadcastFilters(tx, matcher)
  const ids = new Set([...views, ...ownGone])
  const about = [
    ...(await filterAsync(ofViews, async (entry) => ids.has(entry.recordId) || isViewAbout(matcher, entry))),
    ...(await filterAsync(ofExports, (entry) => isExportAbout(matcher, person, entry))),
    ...(await filterAsync(ofBroadcasts, ({ detail }) => isFilterAbout(matcher, (detail as ExportDetail).filter))),
    ...ofInvitations.filter(({ recordName }) => person.kind === 'user' && matcher.occursIn(recordName ?? '')),
  ]
  await eraseEntries(tx, act, about)
}

/** Returns the ids of views that the user made and nobody has any more, such as private ones, which went with the user's removal. */
async function ownViewsThatAreGone(tx: Transaction<Tables>, userId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select record_id as id from audit_trail
     where action = 'view.create' and actor_kind = 'user' and actor_id = ${userId} and record_id not in (select id from saved_views)`.execute(
    tx,
  )
  return rows.map(({ id }) => id)
}

interface View {
  id: string
  list: string
  name: string
  address: string
}

/**
 * Deletes views that look for the person, and renames others that are named after the person. A view that is the segment of an item stays,
 * because without it everyone could see the item: it gets an address that matches nobody. @returns the ids of all
 */
async function eraseViews(tx: Transaction<Tables>, act: Act, matcher: PersonMatcher): Promise<ReadonlySet<string>> {
  const { rows: views } = await sql<View>`
    select id, list, name, address from saved_views
    union all
    select v.id, v.list, v.name, v.address
      from trash, jsonb_populate_recordset(null::saved_views, content -> 'views') as v where trash.kind = 'user'`.execute(tx)
  const about = (await filterAsync(views, ({ address, list }) => matcher.matchesAddress(address, list))).map(({ id }) => id)
  const emptied = await segmentsAmong(tx, about)
  const deleted = about.filter((id) => !emptied.includes(id))
  const others = views.filter(({ id }) => !about.includes(id))
  const renamed = (await filterAsync(others, ({ name }) => matcher.matchesName(name))).map(({ id }) => id)
  const { rows: gone } = await sql<Pick<View, 'id'>>`
    delete from saved_views where id = any(${deleted}) returning id`.execute(tx)
  await audit(tx, act, 'view.remove', gone.map(viewEntry))
  const { rows: changed } = await sql<Pick<View, 'id'>>`
    update saved_views set name = ${newName('id')}, version = version + 1,
           address = case when id = any(${emptied}) then ${NOBODY} else address end
     where id = any(${[...renamed, ...emptied]}) returning id`.execute(tx)
  await audit(tx, act, 'view.update', changed.map(viewEntry))
  await eraseTrashedViews(tx, { deleted, renamed })
  return new Set([...about, ...renamed])
}

/** The address of an emptied segment: it has a parameter that no list knows, so it matches nobody (players/segments.ts). */
const NOBODY = 'erased=true'

/** Returns those of the views that are segments of items. */
async function segmentsAmong(tx: Transaction<Tables>, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from saved_views where id = any(${ids})
       and (exists (select from tasks where segment_id = saved_views.id) or exists (select from announcements where segment_id = saved_views.id))`.execute(
    tx,
  )
  return rows.map(({ id }) => id)
}

function viewEntry({ id }: Pick<View, 'id'>) {
  return { record: { kind: 'view', id } } as const
}

/** The name of a view that was named after the person. It is unique, because an owner's views need different names. */
function newName(id: string) {
  return sql.raw(`'Erased name ' || left(${id}, 8)`)
}

/** Deletes and renames the same views in the trash, where `sharedViews` repeats the names of views that a removed user owned. */
async function eraseTrashedViews(
  tx: Transaction<Tables>,
  { deleted, renamed }: { deleted: string[]; renamed: string[] },
): Promise<void> {
  const named = [...deleted, ...renamed]
  if (named.length === 0) return
  for (const key of ['views', 'sharedViews']) {
    const newValue = sql`case when view ->> 'id' = any(${renamed}) then view || jsonb_build_object('name', ${newName(`(view ->> 'id')`)}) else view end`
    await sql`
      update trash set content = jsonb_set(content, ${[key]}::text[], (
          select coalesce(jsonb_agg(${newValue}), '[]') from jsonb_array_elements(content -> ${key}::text) as view
           where view ->> 'id' <> all(${deleted})))
       where kind = 'user' and exists (
         select from jsonb_array_elements(content -> ${key}::text) as view where view ->> 'id' = any(${named}))`.execute(tx)
  }
}

/** Whether an entry about a view contains a current or former name or address of the view that names the person. */
async function isViewAbout(matcher: PersonMatcher, { recordName, changes }: ErasableEntry): Promise<boolean> {
  const texts = (field: string): string[] => textsOf(changes, field)
  const list = texts('list')[0]
  for (const address of texts('address')) if (await matcher.matchesAddress(address, list)) return true
  for (const name of [recordName ?? '', ...texts('name')]) if (await matcher.matchesName(name)) return true
  return false
}

/** The filter of a broadcast that looked for the person. A broadcast that is still to be sent then finds nobody. */
const ERASED_FILTER = { search: 'an erased person' }

async function eraseBroadcastFilters(tx: Transaction<Tables>, matcher: PersonMatcher): Promise<void> {
  const { rows } = await sql<{ id: string; filter: { search?: string } }>`
    select id, filter::json as filter from broadcasts where filter::jsonb ? 'search' for update`.execute(tx)
  const about = await filterAsync(rows, ({ filter }) => isFilterAbout(matcher, filter))
  await sql`update broadcasts set filter = ${JSON.stringify(ERASED_FILTER)} where id = any(${about.map(({ id }) => id)})`.execute(
    tx,
  )
}

/** Whether a filter of the list of players looks for the person. */
async function isFilterAbout(matcher: PersonMatcher, filter: { search?: string } = {}): Promise<boolean> {
  return matcher.matchesSearch(filter.search ?? '', playerList.name)
}

interface ExportDetail {
  ids?: string[]
  filter?: { search?: string; actorId?: string; recordId?: string }
}

async function isExportAbout(
  matcher: PersonMatcher,
  { id, lists }: ErasedPerson,
  { recordId, detail }: ErasableEntry,
): Promise<boolean> {
  const { ids = [], filter: { search = '', ...filter } = {} } = (detail ?? {}) as ExportDetail
  if (recordId === lists[0] && ids.includes(id)) return true
  if ([filter.actorId, filter.recordId].includes(id)) return true
  return matcher.matchesSearch(search, recordId ?? undefined)
}

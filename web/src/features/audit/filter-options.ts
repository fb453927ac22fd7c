/** The audit's filter options that its list cannot declare: the users, and the actor or record whose id is in the address. */
import { type AuditEntry, auditList } from '@arcade/contract/audit/fields'
import { useQuery } from '@tanstack/react-query'
import { api } from '#src/client/client.ts'
import type { ListAddress } from '#src/lists/list-address.ts'
import type { FilterOptions } from '#src/lists/toolbar-filters.ts'
import { useSession } from '#src/session.tsx'
import { actorText, recordText } from './entry-links.tsx'

type Address = ListAddress<typeof auditList>
const pageSize = auditList.pageSizes[0]

/** @param rows the rows of the page; undefined while they are loaded */
export function useFilterOptions({ actorId, recordId }: Address, rows: readonly AuditEntry[] | undefined): FilterOptions {
  const { user } = useSession()
  const { data } = useQuery(api.users.list.queryOptions({ input: { sort: 'first-name' } }))
  const people = [...(user ? [user] : []), ...(data?.users ?? [])].map(({ id, fname, lname }) => ({
    value: id,
    label: `${fname} ${lname}`,
  }))
  const isKnown = actorId === undefined || people.some(({ value }) => value === actorId)
  const actor = useEntryOf({ actorId: isKnown ? undefined : actorId }, rows)
  const record = useEntryOf({ recordId }, rows)
  return {
    actorId: isKnown ? people : [...people, { value: actorId, label: actor ? actorText(actor).name : actorId }],
    recordId: recordId === undefined ? [] : [{ value: recordId, label: (record && recordText(record)) ?? recordId }],
  }
}

/** Returns the newest entry with this actor or record. If no row of the page has it, because of other filters, it is fetched. */
function useEntryOf(
  filter: { actorId?: string | undefined } | { recordId?: string | undefined },
  rows: readonly AuditEntry[] | undefined,
) {
  const [name, id] = Object.entries(filter)[0] as ['actorId' | 'recordId', string | undefined]
  const shown = id === undefined ? undefined : rows?.find((entry) => entry[name] === id)
  const isFetched = id !== undefined && rows !== undefined && !shown
  const { data } = useQuery(api.audit.list.queryOptions({ input: { ...filter, pageSize }, enabled: isFetched }))
  return shown ?? (isFetched ? data?.entries[0] : undefined)
}

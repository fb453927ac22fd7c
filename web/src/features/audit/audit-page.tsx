/** The audit trail (security.md, Operations): who did what, when, to which record, and what changed by it. */
import { type AuditEntry, auditActionLabels, auditList } from '@arcade/contract/entities/audit'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { api } from '#src/client.ts'
import { listColumns } from '#src/lists/columns.tsx'
import { listCursor, listFilter, listOrder } from '#src/lists/list-address.ts'
import { ListTable, PageSizeField } from '#src/lists/list-table.tsx'
import { useList } from '#src/lists/use-list.ts'
import { Page } from '#src/ui/page.tsx'
import { changesText } from './changes-text.ts'

const columns = listColumns(auditList, {
  at: { card: 'start' },
  actorName: { render: (entry) => <Actor entry={entry} />, card: 'title' },
  action: { card: 'wide', value: ({ action }) => auditActionLabels[action] ?? action },
  recordKind: { missing: '–', isHiddenAtFirst: true },
  recordName: { render: (entry) => <Record entry={entry} />, card: 'start' },
  changes: { value: changesText, missing: '–', viewMore: true, card: 'wide' },
  address: { missing: '–' },
  device: { missing: '–', isHiddenAtFirst: true },
  origin: { missing: '–', isHiddenAtFirst: true },
  detail: { missing: '–', viewMore: true, isHiddenAtFirst: true },
  actorKind: { isHiddenAtFirst: true },
  seq: { isHiddenAtFirst: true },
  actorId: { missing: '–', isHiddenAtFirst: true },
  recordId: { missing: '–', isHiddenAtFirst: true },
  actId: { isHiddenAtFirst: true },
})

export function AuditPage() {
  const address = useSearch({ from: '/shell/management/audit' })
  const filter = listFilter(auditList, address)
  const pageSize = address.size ?? auditList.pageSizes[0]
  const input = { ...filter, ...listOrder(auditList, address), ...listCursor(address), pageSize }
  const query = useQuery(api.audit.list.queryOptions({ input, placeholderData: keepPreviousData }))
  const isUncounted = query.data?.total === null && !query.isPlaceholderData
  const counted = useQuery(api.audit.count.queryOptions({ input: filter, enabled: isUncounted }))
  const state = useList(auditList, {
    address,
    query,
    rowsOf: ({ entries }) => entries,
    total: isUncounted ? counted.data?.total : undefined,
  })
  return (
    <Page title="Audit">
      <ListTable
        label="Audit"
        state={state}
        columns={columns}
        rowKey={({ seq }) => seq}
        toolbar={<PageSizeField state={state} />}
      />
    </Page>
  )
}

/** Leads to all that this person, bot or process did. */
function Actor({ entry: { actorName, actorKind, actorId } }: { entry: AuditEntry }) {
  const name = actorName ?? (actorKind === 'guest' ? 'A guest' : 'Erased')
  if (actorId === null) return name
  return (
    <Link to="/audit" search={{ actorId }} title={`All that ${name} did`}>
      {name}
    </Link>
  )
}

/** Leads to all that happened to this record. */
function Record({ entry: { recordName, recordId, recordKind } }: { entry: AuditEntry }) {
  if (recordId === null) return '–'
  const name = recordName ?? recordId
  return (
    <Link to="/audit" search={{ recordId, ...(recordKind !== null && { recordKind }) }} title={`All that happened to ${name}`}>
      {name}
    </Link>
  )
}

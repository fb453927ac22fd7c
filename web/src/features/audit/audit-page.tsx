/** The audit trail (security.md, Operations): who did what, when, to which record, and what changed by it. */
import { type AuditEntry, auditActionLabels, auditList, recordKindLabels } from '@arcade/contract/audit/fields'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { createContext, use, useState } from 'react'
import { api, client } from '#src/client.ts'
import { listColumns } from '#src/lists/columns.tsx'
import { ExportAllButton } from '#src/lists/export-buttons.tsx'
import { listCursor, listFilter, listOrder } from '#src/lists/list-address.ts'
import { ListTable, PageSizeField } from '#src/lists/list-table.tsx'
import { useCounts } from '#src/lists/use-counts.ts'
import { asListed, useList } from '#src/lists/use-list.ts'
import { MoreButton } from '#src/lists/data-table.tsx'
import { Page } from '#src/ui/page.tsx'
import { opensRow } from '#src/ui/table-rows.ts'
import { changesInWords, changesText } from '#src/versions/change-words.ts'
import classes from './audit-page.module.css'
import { ActorLink, actorText, RecordLink, recordText } from './entry-links.tsx'
import { EntryDialog } from './entry-dialog.tsx'
import { useFilterOptions } from './filter-options.ts'

const columns = listColumns(auditList, {
  at: { card: 'start' },
  actorName: { render: (entry) => <Actor entry={entry} />, card: 'start' },
  action: {
    render: (entry) => <Opener entry={entry} text={auditActionLabels[entry.action] ?? entry.action} isMain />,
    card: 'title',
  },
  recordName: { render: (entry) => <Record entry={entry} />, card: 'start' },
  changes: { render: (entry) => <Changes entry={entry} />, card: 'wide' },
  address: { missing: '–', isHiddenAtFirst: true },
  recordKind: { missing: '–', isHiddenAtFirst: true },
  device: { missing: '–', isHiddenAtFirst: true },
  origin: { missing: '–', isHiddenAtFirst: true },
  detail: { missing: '–', viewMore: true, isHiddenAtFirst: true },
  actorKind: { isHiddenAtFirst: true },
  seq: { isHiddenAtFirst: true },
  actorId: { missing: '–', isHiddenAtFirst: true },
  recordId: { missing: '–', isHiddenAtFirst: true },
  actId: { isHiddenAtFirst: true },
})

/** Opens the dialog that shows all of an entry. */
const OpenContext = createContext<(entry: AuditEntry) => void>(() => {})

export function AuditPage() {
  const address = useSearch({ from: '/shell/management/audit' })
  const [opened, setOpened] = useState<AuditEntry>()
  const filter = listFilter(auditList, address)
  const pageSize = address.size ?? auditList.pageSizes[0]
  const input = { ...filter, ...listOrder(auditList, address), ...listCursor(address), pageSize }
  const query = useQuery(api.audit.list.queryOptions({ input, ...asListed }))
  const { counted, everyone } = useCounts((of: typeof filter) => api.audit.count.queryOptions({ input: of }), filter, query)
  const state = useList(auditList, { address, query, rowsOf: ({ entries }) => entries, counted, isKeptByPage: true })
  const options = useFilterOptions(address, state.rows)
  return (
    <OpenContext value={setOpened}>
      <Page
        title="Audit"
        actions={<ExportAllButton state={state} label="Download Entries" everything="Everything" everyone={everyone} />}
      >
        <div className={classes['list']}>
          <ListTable
            label="Audit"
            state={state}
            columns={columns}
            rowKey={({ seq }) => seq}
            options={options}
            toolbar={
              <>
                <PageSizeField state={state} />
                {state.rows && !query.isPlaceholderData && (
                  <NewerButton input={input} newest={state.rows[0]?.seq ?? 0} onShow={() => void query.refetch()} />
                )}
              </>
            }
          />
        </div>
      </Page>
      <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />
    </OpenContext>
  )
}

const LOOK_EVERY_MS = 10_000
/** An open page that nobody touches must not keep its session alive for ever (§4). */
const LOOKS = 90

interface NewerProps {
  /** What the page shows. */
  input: Parameters<typeof client.audit.list>[0]
  newest: number
  onShow: () => void
}

/** Says that there are newer entries, and shows them when one asks for them: a list that moves by itself cannot be read. */
function NewerButton({ input, newest, onShow }: NewerProps) {
  const isFirstPage = input.after === undefined && input.before === undefined
  const { data: newer } = useQuery({
    queryKey: [...api.audit.list.key(), 'newer', input, newest],
    queryFn: async ({ signal }) => {
      const { entries } = await client.audit.list(input, { signal })
      return entries.filter(({ seq }) => seq > newest).length
    },
    enabled: isFirstPage,
    initialData: 0,
    staleTime: LOOK_EVERY_MS,
    refetchInterval: ({ state }) => (state.data || state.dataUpdateCount > LOOKS ? false : LOOK_EVERY_MS),
  })
  const noun = newer === 1 ? 'newer entry' : 'newer entries'
  return (
    <output>
      {isFirstPage && newer > 0 && (
        <Button variant="default" onClick={onShow}>
          {`${newer}${newer === input.pageSize ? ' or more' : ''} ${noun}`}
        </Button>
      )}
    </output>
  )
}

/** @param props.isMain it is what Enter on the row does */
function Opener({ entry, text, isMain = false }: { entry: AuditEntry; text: string; isMain?: boolean }) {
  const open = use(OpenContext)
  return (
    <MoreButton isTall {...(isMain && opensRow)} onClick={() => open(entry)}>
      {text}
    </MoreButton>
  )
}

/** All fields that changed, as far as there is room; the whole of it is in the entry's dialog. */
function Changes({ entry }: { entry: AuditEntry }) {
  const changes = changesInWords(entry.recordKind, entry.changes)
  if (changes.length === 0) return '–'
  return <Opener entry={entry} text={changesText(changes)} />
}

function Actor({ entry }: { entry: AuditEntry }) {
  const { kind } = actorText(entry)
  return (
    <>
      <ActorLink entry={entry} />
      {kind && <span className={classes['kind']}>{kind}</span>}
    </>
  )
}

function Record({ entry }: { entry: AuditEntry }) {
  if (recordText(entry) === undefined || entry.recordKind === null) return '–'
  return (
    <>
      <RecordLink entry={entry} />
      <span className={classes['kind']}>{recordKindLabels[entry.recordKind]}</span>
    </>
  )
}

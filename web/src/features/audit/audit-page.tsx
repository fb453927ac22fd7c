/** The audit trail (security.md, Operations): who did what, when, to which record, and which fields changed. */
import { type AuditEntry, auditActionLabels, auditList, recordKindLabels } from '@arcade/contract/audit/fields'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { createContext, use, useState } from 'react'
import { api, client } from '#src/client/client.ts'
import { listColumns } from '#src/lists/columns.tsx'
import { ExportAllButton } from '#src/lists/export-buttons.tsx'
import { listCursor, listFilter, listOrder } from '#src/lists/list-address.ts'
import { ListTable, PageSizeField } from '#src/lists/list-table.tsx'
import { useAutoReload } from '#src/lists/live.ts'
import { usePageSize } from '#src/lists/page-size.ts'
import { useCounts } from '#src/lists/use-counts.ts'
import { asListed, useList } from '#src/lists/use-list.ts'
import { MoreButton } from '#src/lists/table-cells.tsx'
import { Page } from '#src/ui/page.tsx'
import { opensRow } from '#src/ui/table-rows.ts'
import { changesInWords, changesText } from '#src/versions/change-words.ts'
import classes from './audit-page.module.css'
import { ActorLink, actorText, RecordLink, recordText } from './entry-links.tsx'
import { EntryDialog } from './entry-dialog.tsx'
import { useFilterOptions } from './filter-options.ts'

const optional = { isHiddenAtFirst: true, width: 7, card: 'fold' } as const

/** Some fields may contain personal ones of players. The server withholds them only where they do. */
const columns = listColumns(auditList, {
  at: { card: 'start', width: 5.5, grow: 1 },
  actorName: { render: (entry) => <Actor entry={entry} />, card: 'start', width: 6.5, grow: 1 },
  action: {
    render: (entry) => <DetailsButton entry={entry} text={auditActionLabels[entry.action] ?? entry.action} isMain />,
    card: 'title',
    width: 9,
    grow: 1,
  },
  recordName: { needs: 'audit.read', render: (entry) => <Record entry={entry} />, card: 'start', width: 7.5, grow: 1 },
  changes: { needs: 'audit.read', render: (entry) => <Changes entry={entry} />, card: 'wide', width: 12, grow: 3 },
  address: { missing: '–', ...optional },
  recordKind: { missing: '–', ...optional },
  device: { missing: '–', ...optional },
  origin: { missing: '–', ...optional },
  detail: { needs: 'audit.read', missing: '–', viewMore: true, ...optional },
  actorKind: optional,
  seq: optional,
  actorId: { missing: '–', ...optional },
  recordId: { missing: '–', ...optional },
  actId: optional,
})

const noNames: Readonly<Record<string, string>> = {}
/** The names of players whom their entries do not name. */
const PlayerNames = createContext(noNames)

/** Opens the dialog with all details of an entry. */
const OpenContext = createContext<(entry: AuditEntry) => void>(() => {})

export function AuditPage() {
  const address = useSearch({ from: '/shell/management/audit' })
  const [opened, setOpened] = useState<AuditEntry>()
  const filter = listFilter(auditList, address)
  const pageSize = usePageSize(auditList, address)
  const input = { ...filter, ...listOrder(auditList, address), ...listCursor(address), pageSize }
  const query = useQuery(api.audit.list.queryOptions({ input, ...asListed }))
  const { counted, everyone } = useCounts(
    (of: typeof filter & { exact?: true }) => api.audit.count.queryOptions({ input: of }),
    filter,
    query,
  )
  const state = useList(auditList, { address, query, rowsOf: ({ entries }) => entries, counted, isKeptByPage: true })
  const options = useFilterOptions(address, state.rows)
  return (
    <OpenContext value={setOpened}>
      <PlayerNames value={query.data?.playerNames ?? noNames}>
        <Page
          isList
          title="Audit"
          actions={<ExportAllButton state={state} label="Download Entries" everything="Everything" everyone={everyone} />}
        >
          <ListTable
            label="Audit"
            state={state}
            columns={columns}
            rowKey={({ seq }) => seq}
            options={options}
            toolbar={<PageSizeField state={state} />}
            notice={
              state.rows &&
              !query.isPlaceholderData && (
                <NewerButton input={input} newest={state.rows[0]?.seq ?? 0} onShow={() => void query.refetch()} />
              )
            }
          />
        </Page>
        <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />
      </PlayerNames>
    </OpenContext>
  )
}

const POLL_INTERVAL_MS = 10_000

interface NewerProps {
  /** The input of the call whose entries the page shows. */
  input: Parameters<typeof client.audit.list>[0]
  /** The number (`seq`) of the newest entry on the page; 0 if the page is empty. */
  newest: number
  onShow: () => void
}

/** A button that appears when there are newer entries and loads them on click. A list that moved by itself could not be read. */
function NewerButton({ input, newest, onShow }: NewerProps) {
  const isFirstPage = input.after === undefined && input.before === undefined
  const query = useQuery({
    queryKey: [...api.audit.list.key(), 'newer', input, newest],
    queryFn: async ({ signal }) => {
      const { entries } = await client.audit.list(input, { signal })
      return entries.filter(({ seq }) => seq > newest).length
    },
    enabled: isFirstPage,
    initialData: 0,
    staleTime: POLL_INTERVAL_MS,
  })
  const newer = query.data
  useAutoReload(query, { isOn: isFirstPage && newer === 0, everyMs: POLL_INTERVAL_MS })
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

/** @param props.isMain whether Enter on the row presses this button */
function DetailsButton({ entry, text, isMain = false }: { entry: AuditEntry; text: string; isMain?: boolean }) {
  const open = use(OpenContext)
  return (
    <MoreButton isTall {...(isMain && opensRow)} onClick={() => open(entry)}>
      {text}
    </MoreButton>
  )
}

/** The changed fields, cut off where the cell ends; the entry's dialog shows them in full. */
function Changes({ entry }: { entry: AuditEntry }) {
  const changes = changesInWords(entry.recordKind, entry.changes)
  if (changes.length === 0) return '–'
  return <DetailsButton entry={entry} text={changesText(changes)} />
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
  const names = use(PlayerNames)
  const { recordKind, recordId } = entry
  if (recordText(entry) === undefined || recordKind === null) return '–'
  const isPlayer = recordKind === 'player' && recordId !== null
  const named = isPlayer ? { ...entry, recordName: entry.recordName ?? names[recordId] ?? null } : entry
  return (
    <>
      <RecordLink entry={named} />
      <span className={classes['kind']}>
        {recordKindLabels[recordKind]}
        {isPlayer && named.recordName !== null && ` ${recordId}`}
      </span>
    </>
  )
}

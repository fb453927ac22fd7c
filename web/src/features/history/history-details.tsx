/** The chosen item of History (§2, §3): its details, its participants 50 a page, both as a spreadsheet. */
import { announcementTypeLabels, linkTypeLabels } from '@arcade/contract/entities/announcement'
import type { HistoryItem, HistoryKind, HistoryParticipant } from '@arcade/contract/entities/history'
import { taskTypeLabels } from '@arcade/contract/entities/task'
import { Anchor } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { api, asCallError, fetchSpreadsheet } from '#src/client.ts'
import { type Column, DataTable, Missing } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { defined } from '#src/ui/list-search.ts'
import { Moment } from '#src/ui/moment.tsx'
import { Panel, Problem } from '#src/ui/page.tsx'
import type { ParticipantsPlace } from './history-search.ts'
import { Spinner } from './spinner.tsx'
import classes from './history-page.module.css'

const DEFAULT_FILE_NAME = 'data.xlsx' // §7
const NOT_AVAILABLE = 'not available' // §3
const NOBODY = 'No users found...' // §2

interface HistoryDetailsProps {
  kind: HistoryKind
  id: string
  place: ParticipantsPlace & { page: number }
  onPlaceChange: (place: ParticipantsPlace, replace?: boolean) => void
}

export function HistoryDetails({ kind, id, place, onPlaceChange }: HistoryDetailsProps) {
  const { data: item, error, refetch } = useQuery(api.history.get.queryOptions({ input: { kind, id } }))
  const heading = useRef<HTMLHeadingElement>(null)
  const isLoaded = item !== undefined

  // Below the titles on a phone: what was chosen must come into view.
  useEffect(() => {
    if (isLoaded) heading.current?.scrollIntoView({ block: 'nearest' })
  }, [isLoaded])

  if (error && !item) {
    return (
      <Panel>
        <Problem message={asCallError(error).message} onRetry={() => void refetch()} />
      </Panel>
    )
  }
  if (!item) {
    return (
      <Panel>
        <Spinner />
      </Panel>
    )
  }
  return (
    <div className={classes['item']}>
      <section className={classes['details']} aria-labelledby="history-item">
        <header className={classes['head']}>
          <h2 id="history-item" ref={heading}>
            {item.title}
          </h2>
          <DownloadButton
            key={item.id}
            id={`history ${item.kind} ${item.id}`}
            label="Download"
            start={(options) =>
              fetchSpreadsheet('history', { data: sheetOf(item) }, { ...options, fallbackName: DEFAULT_FILE_NAME })
            }
            successText="Data Downloaded Successfully!"
            failureText={failureText}
          />
        </header>
        <Facts item={item} />
      </section>
      <Participants kind={kind} id={id} count={item.participants} place={place} onPlaceChange={onPlaceChange} />
    </div>
  )
}

/** §7's body; with kind and id the server adds all participants itself. */
function sheetOf({ kind, id, type, title, link, description, linkType, inputText, reward }: HistoryItem) {
  return { kind, id, type, title, link, description, linkType, inputText, reward, users: [] }
}

/** §8: the server's own words, where it has some. */
function failureText(error: unknown): string {
  const { code, message } = asCallError(error)
  return code === 'NETWORK' ? 'Error Downloading Data!' : message
}

const typeLabels: Record<string, string> = { ...taskTypeLabels, ...announcementTypeLabels }

function Facts({ item }: { item: HistoryItem }) {
  const { type, linkType, link, description, inputText, reward } = item
  const isText = type === 'desc' || (link === null && description !== null)
  return (
    <dl className={classes['facts']}>
      <Fact name="Type">{typeLabels[type] ?? type}</Fact>
      <Fact name="Link Type">{linkType && (linkTypeLabels[linkType as keyof typeof linkTypeLabels] ?? linkType)}</Fact>
      {isText ? <Fact name="Description">{description}</Fact> : <Fact name="Link">{link && <ItemLink link={link} />}</Fact>}
      <Fact name="Input Text">{inputText}</Fact>
      <Fact name="Reward">{reward.toLocaleString('en-US', { maximumFractionDigits: 20 })}</Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children || <Missing text={NOT_AVAILABLE} />}</dd>
    </div>
  )
}

/** Imported items may hold anything; only web addresses are made links. */
function ItemLink({ link }: { link: string }) {
  if (!/^https?:\/\//i.test(link)) return link
  return (
    <Anchor href={link} target="_blank" rel="noreferrer noopener">
      {link}
    </Anchor>
  )
}

const columns: readonly Column<HistoryParticipant>[] = [
  { header: 'ID', render: ({ id }) => <PlayerLink id={id} /> },
  { header: 'Username', value: ({ username }) => username, missing: NOT_AVAILABLE, viewMore: true },
  { header: 'First Name', value: ({ first_name }) => first_name, missing: NOT_AVAILABLE, viewMore: true },
  { header: 'Last Name', value: ({ last_name }) => last_name, missing: NOT_AVAILABLE, viewMore: true },
  { header: 'User Input', value: ({ userInput }) => userInput, missing: NOT_AVAILABLE, viewMore: true },
  { header: 'Timestamp', render: ({ timestamp }) => <Moment iso={timestamp} /> },
]

function PlayerLink({ id }: { id: number }) {
  return (
    <Link to="/manage-telegram-users/$userId" params={{ userId: String(id) }} className={classes['player']} preload={false}>
      {id}
    </Link>
  )
}

function Participants({ kind, id, count, place, onPlaceChange }: HistoryDetailsProps & { count: number }) {
  const { q, page, after, before } = place
  const input = { kind, id, ...defined({ search: q, after, before }) }
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.history.participants.queryOptions({ input, placeholderData: keepPreviousData }),
  )
  const wanted = defined({ q })
  const isLost = error !== null && asCallError(error).code === 'INVALID_INPUT'

  const handlePageChange = (next: number) => {
    if (!data || isPlaceholderData) return
    if (next > page && data.after !== null) onPlaceChange({ ...wanted, page: next, after: data.after })
    if (next < page && page > 1)
      onPlaceChange(next > 1 && data.before !== null ? { ...wanted, page: next, before: data.before } : wanted)
  }

  if (!data && !error) {
    return (
      <Panel>
        <Spinner />
      </Panel>
    )
  }
  return (
    <section className={classes['participants']} aria-labelledby="history-participants">
      <h3 id="history-participants">
        Participants <span className={classes['count']}>{count.toLocaleString('en-US')}</span>
      </h3>
      <DataTable
        label="Participants"
        columns={columns}
        rows={data?.participants}
        rowKey={(participant) => `${participant.id} ${participant.timestamp}`}
        emptyText={NOBODY}
        toolbar={{
          searchLabel: 'Search participants',
          search: q ?? '',
          onSearch: (text) => onPlaceChange(defined({ q: text || undefined }), true),
        }}
        error={error && (!data || isLost) ? asCallError(error).message : undefined}
        onRetry={() => (isLost ? onPlaceChange(wanted) : void refetch())}
        isStale={isPlaceholderData}
        paging={data && { page, pageSize: data.pageSize, pageCount: Math.max(data.pageCount, page) }}
        onPageChange={handlePageChange}
        pager="prev-next"
        canPage={{ previous: page > 1, next: data?.after != null }}
      />
    </section>
  )
}

/**
 * The selected item of History (§2, §3): its details, the team's notes on it, its participants (50 per page), and a download. After a
 * move-in it also shows the fields that the console does not know.
 */
import { announcementTypeLabels, linkTypeLabels } from '@arcade/contract/announcements/fields'
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { ListedParticipant } from '@arcade/contract/history/calls'
import { type HistoryItem, type HistoryKind, participantList } from '@arcade/contract/history/fields'
import { taskTypeLabels } from '@arcade/contract/tasks/fields'
import { isBlank } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { fetchSpreadsheet } from '#src/client/spreadsheet.ts'
import { listColumns } from '#src/lists/columns.tsx'
import { shownOrAll } from '#src/lists/export-buttons.tsx'
import { type ListAddress, listCursor, listFilter } from '#src/lists/list-address.ts'
import { ListTable } from '#src/lists/list-table.tsx'
import { PlayerLink } from '#src/lists/player-link.tsx'
import { type ListState, useList } from '#src/lists/use-list.ts'
import { type Column, Missing, MoreButton } from '#src/lists/table-cells.tsx'
import { useNotesToRead } from '#src/notes/notes.tsx'
import { Permitted } from '#src/session.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { exactly, formatted } from '#src/ui/numbers.ts'
import { Panel, Problem } from '#src/ui/page.tsx'
import { WebLink } from '#src/ui/web-link.tsx'
import { FromBefore } from '#src/versions/from-before.tsx'
import { useParticipationFromBefore } from './participation-from-before.tsx'
import { Spinner } from './spinner.tsx'
import classes from './history-page.module.css'

const NOT_AVAILABLE = 'not available' // §3

interface HistoryDetailsProps {
  kind: HistoryKind
  id: string
  /** The filters, order and page of the participants. */
  address: ListAddress<typeof participantList>
  onAddress: (address: ListAddress<typeof participantList>, replace: boolean) => void
}

export function HistoryDetails({ kind, id, address, onAddress }: HistoryDetailsProps) {
  const { data: item, error, refetch } = useQuery(api.history.get.queryOptions({ input: { kind, id } }))
  const heading = useRef<HTMLHeadingElement>(null)
  const isLoaded = item !== undefined

  // On a phone the details are below the titles, so the page scrolls to them.
  useEffect(() => {
    const isBelow = (heading.current?.getBoundingClientRect().top ?? 0) > innerHeight / 2
    if (isLoaded) heading.current?.scrollIntoView({ block: isBelow ? 'start' : 'nearest' })
  }, [isLoaded])

  if (error && !item) {
    return (
      <Panel>
        <Problem {...problemOf(error, () => void refetch())} />
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
  return <LoadedItem item={item} heading={heading} address={address} onAddress={onAddress} />
}

interface LoadedItemProps extends Pick<HistoryDetailsProps, 'address' | 'onAddress'> {
  item: HistoryItem
  heading: RefObject<HTMLHeadingElement | null>
}

function LoadedItem({ item, heading, address, onAddress }: LoadedItemProps) {
  const { kind, id } = item
  const filter = listFilter(participantList, address)
  const notes = useNotesToRead({ kind: noteKindOf[kind], id }, useIsThere(kind, id))
  const input = { kind, id, ...filter, ...listCursor(address) }
  const query = useQuery(api.history.participants.queryOptions({ input, placeholderData: keepPreviousData }))
  const state = useList(participantList, {
    address,
    query,
    rowsOf: ({ participants }) => participants,
    onAddress,
    isKeptByPage: true,
  })
  const all: StartIn = (format) => (options) => fetchSheet(item, { format }, options)
  const shown: StartIn = (format) => (options) => fetchSheet(item, { ...filter, format }, options)
  return (
    <div className={classes['item']}>
      <section className={classes['details']} aria-labelledby="history-item">
        <header className={classes['head']}>
          <h2 id="history-item" ref={heading}>
            {item.title}
          </h2>
          <Permitted needs="exports.make">
            <DownloadButton
              key={item.id}
              id={`history ${item.kind} ${item.id}`}
              label="Download"
              {...shownOrAll({ state, shown, all, everything: 'Everyone', everyone: item.participants })}
              successText="Data Downloaded Successfully!"
              failureText={failureText}
            />
          </Permitted>
        </header>
        <Facts item={item} />
      </section>
      {(query.data || query.error) && !notes.isLoading ? (
        <>
          {notes.panel}
          <Participants item={item} state={state} />
        </>
      ) : (
        <Panel>
          <Spinner />
        </Panel>
      )}
      <FromBefore kind={`${kind}History`} id={id} />
    </div>
  )
}

const noteKindOf = { announcement: 'announcement', social: 'socialTask', daily: 'dailyTask' } as const

/** Whether the list of titles, which the page loads anyway, has the item as one that was not deleted. */
function useIsThere(kind: HistoryKind, id: string): boolean {
  const { data } = useQuery(api.history.titles.queryOptions({ input: { kind } }))
  return data?.items.some((one) => one.id === id && !one.isDeleted) ?? false
}

function fetchSheet(
  item: HistoryItem,
  { format, search }: { format: SheetFormat; search?: string | undefined },
  options: Omit<Parameters<typeof fetchSpreadsheet>[2], 'fallbackName'>,
) {
  const data = { ...sheetRequest(item), ...(search !== undefined && { search }) }
  return fetchSpreadsheet('history', { data, format }, { ...options, fallbackName: participantList.fileName })
}

type StartIn = Parameters<typeof shownOrAll>[0]['all']

/** Returns the body of the download call (§7). `users` is empty, because the server adds all participants by kind and id. */
function sheetRequest({ kind, id, type, title, link, description, linkType, inputText, reward }: HistoryItem) {
  return { kind, id, type, title, link, description, linkType, inputText, reward, users: [] }
}

/** A failed history download shows the server's message (§8). */
function failureText(error: unknown): string {
  const { code, message } = asCallError(error)
  return code === 'NETWORK' ? 'Error Downloading Data!' : message
}

const typeLabels: Record<string, string> = { ...taskTypeLabels, ...announcementTypeLabels }

/** The details in one line, which leaves the room to the participants. What the line cuts off shows when it is unfolded. */
function Facts({ item }: { item: HistoryItem }) {
  const { type, linkType, link, description, inputText, reward } = item
  const isText = type === 'desc' || (link === null && description !== null)
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  return (
    <div className={classes['fold']}>
      <dl id={id} className={classes['facts']} data-open={isOpen || undefined}>
        <Fact name="Type">{typeLabels[type] ?? type}</Fact>
        <Fact name="Link Type">{linkType && (linkTypeLabels[linkType as keyof typeof linkTypeLabels] ?? linkType)}</Fact>
        {isText ? (
          <Fact name="Description" isLong>
            {description}
          </Fact>
        ) : (
          <Fact name="Link" isLong>
            {link && <WebLink link={link} />}
          </Fact>
        )}
        <Fact name="Input Text">{inputText}</Fact>
        <Fact name="Reward">{exactly(reward)}</Fact>
      </dl>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label="Details in full"
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? <IconChevronUp size={16} aria-hidden /> : <IconChevronDown size={16} aria-hidden />}
      </Button>
    </div>
  )
}

function Fact({ name, isLong = false, children }: { name: string; isLong?: boolean; children: ReactNode }) {
  return (
    <div data-long={isLong || undefined}>
      <dt>{name}</dt>
      <dd>{children || <Missing text={NOT_AVAILABLE} />}</dd>
    </div>
  )
}

const columns = listColumns(participantList, {
  id: { render: ({ id }) => <PlayerLink userId={id}>{id}</PlayerLink>, card: 'start', width: 6 },
  username: { render: ({ id, username }) => <NameLink id={id} text={username} />, card: 'title', width: 6, grow: 1.5 },
  first_name: { render: ({ id, first_name }) => <NameLink id={id} text={first_name} />, card: 'fold', width: 5.5, grow: 1 },
  last_name: { missing: NOT_AVAILABLE, card: 'fold', width: 5.5, grow: 1 },
  userInput: { missing: NOT_AVAILABLE, viewMore: true, card: 'wide', width: 6, grow: 1.5 },
  timestamp: { card: 'start', width: 5.5, grow: 0.8 },
})

/** Links a participant's name to the player's page. */
function NameLink({ id, text }: { id: number; text: string | null }) {
  return isBlank(text) ? <Missing text={NOT_AVAILABLE} /> : <PlayerLink userId={id}>{text}</PlayerLink>
}

interface ParticipantsProps {
  item: HistoryItem
  state: ListState<typeof participantList, ListedParticipant>
}

function Participants({ item, state }: ParticipantsProps) {
  const { open, dialog } = useParticipationFromBefore(item)
  const hasFromBefore = state.rows?.some((row) => row.hasFromBefore) ?? false
  const shown = useMemo(() => (hasFromBefore ? [...columns, fromBeforeColumn(open)] : columns), [hasFromBefore, open])
  return (
    <section className={classes['participants']} aria-labelledby="history-participants">
      <h3 id="history-participants">
        Participants <span className={classes['count']}>{formatted(item.participants)}</span>
      </h3>
      <ListTable
        label="Participants"
        state={state}
        columns={shown}
        rowKey={(participant) => `${participant.id} ${participant.timestamp}`}
        noMatchText={participantList.emptyText}
      />
      {dialog}
    </section>
  )
}

/** A column for fields that a move-in has kept, shown where a participation on the page has some. */
function fromBeforeColumn(open: (participant: ListedParticipant) => void): Column<ListedParticipant> {
  return {
    header: 'From before',
    card: 'wide',
    width: 5,
    render: (row) => row.hasFromBefore && <MoreButton onClick={() => open(row)}>Show</MoreButton>,
  }
}

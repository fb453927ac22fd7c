/** The calendar of broadcasts, and of tasks and announcements with a start or an end (/calendar): a week or a month, on a phone as an agenda. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import type { CalendarKind } from '@arcade/contract/calendar/fields'
import { listPaths } from '@arcade/contract/lists'
import { isolated } from '@arcade/contract/text'
import { NativeSelect } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { useMay } from '#src/session.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { useIsPhone } from '#src/ui/window-width.ts'
import { operatorZone, zoneText } from '#src/ui/zoned-time.ts'
import { Agenda } from './agenda.tsx'
import classes from './calendar.module.css'
import { dayOf, firstWeekday, type Span, spanOf, type SpanKind, spanKinds } from './days.ts'
import { entriesIn, entryKindText, kindsFor } from './entries.ts'
import { ItemDialog } from './item-dialog.tsx'
import { Timeline } from './timeline.tsx'
import { useMoves } from './use-moves.ts'

const viewLabels: Record<SpanKind, string> = { week: 'Week', month: 'Month' }

interface Shown {
  view?: 'week'
  day?: string
  kind?: CalendarKind
}

export function CalendarPage() {
  const shown = useSearch({ from: '/shell/management/calendar' })
  const { view = 'month', kind } = shown
  const zone = operatorZone()
  const now = useNow()
  const span = spanOf(view, shown.day ?? dayOf(now, zone), zone, firstWeekday())
  const input = { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() }
  const options = api.calendar.list.queryOptions({ input, placeholderData: keepPreviousData })
  const query = useQuery(options)
  useAutoReload(query)
  const move = useMoves(options.queryKey, zone)
  const canMove = useCanMove()
  const [opened, setOpened] = useState<CalendarItem>()
  const entries = query.data && entriesIn(query.data, span, { now, kind })
  const isPhone = useIsPhone()
  const View = isPhone ? Agenda : Timeline

  return (
    <Page isList title="Calendar">
      <Toolbar shown={shown} span={span} />
      {query.error && !query.data ? (
        <Panel>
          <Problem {...problemOf(query.error, () => void query.refetch())} />
        </Panel>
      ) : entries?.length === 0 ? (
        <Nothing span={span} kind={kind} />
      ) : entries ? (
        <View
          entries={entries}
          span={span}
          now={now}
          canMove={canMove}
          onOpen={setOpened}
          onMove={(item, to) => void move(item, to)}
        />
      ) : (
        <output>Loading...</output>
      )}
      {query.data?.isMore && <p className={classes['note']}>There is more than the calendar shows. Choose a shorter time.</p>}
      <ItemDialog
        item={opened}
        zone={zone}
        canMove={canMove}
        onClose={() => setOpened(undefined)}
        onMove={(item, to) => void move(item, to)}
      />
    </Page>
  )
}

/** Returns whether the signed-in person's role may move an item. */
function useCanMove(): (item: Pick<CalendarItem, 'kind'>) => boolean {
  const mayMove = { tasks: useMay('tasks.write'), announcements: useMay('announcements.write') }
  return ({ kind }) => mayMove[kind === 'announcement' ? 'announcements' : 'tasks']
}

function Toolbar({ shown, span }: { shown: Shown; span: Span }) {
  const navigate = useNavigate()
  const kinds = kindsFor({ maySeeBroadcasts: useMay('broadcasts.read') })
  const { day: _day, ...withoutDay } = shown
  const at = (day: string) => ({ ...shown, day })
  return (
    <div className={classes['toolbar']}>
      <div className={classes['steps']}>
        <LinkButton to="/calendar" search={at(span.previous)} variant="default" aria-label={`Previous ${span.kind}`} px="xs">
          <IconChevronLeft size={18} aria-hidden />
        </LinkButton>
        <LinkButton to="/calendar" search={withoutDay} variant="default">
          Today
        </LinkButton>
        <LinkButton to="/calendar" search={at(span.next)} variant="default" aria-label={`Next ${span.kind}`} px="xs">
          <IconChevronRight size={18} aria-hidden />
        </LinkButton>
      </div>
      <div className={classes['span']} aria-live="polite">
        <h2>{span.title}</h2>
        <p>{zoneText(span.from, span.zone)}</p>
      </div>
      <NativeSelect
        aria-label="Show"
        className={classes['kind'] ?? ''}
        value={shown.kind ?? ''}
        data={[{ value: '', label: 'Everything' }, ...kinds.map((value) => ({ value, label: `${entryKindText(value)}s` }))]}
        onChange={({ target: { value } }) => {
          const { kind: _kind, ...others } = shown
          void navigate({
            to: '/calendar',
            search: value === '' ? others : { ...others, kind: value as CalendarKind },
            resetScroll: false,
          })
        }}
      />
      <SpanChoice shown={shown} kind={span.kind} />
    </div>
  )
}

function SpanChoice({ shown, kind }: { shown: Shown; kind: SpanKind }) {
  const { view: _view, ...others } = shown
  return (
    <fieldset className={classes['views']} aria-label="View">
      {spanKinds.map((value) => (
        <LinkButton
          key={value}
          to="/calendar"
          search={value === 'week' ? { ...others, view: 'week' } : others}
          resetScroll={false}
          variant="subtle"
          size="compact-sm"
          activeOptions={{ exact: true }}
          aria-current={value === kind ? 'page' : undefined} // also if the address names the default span
        >
          {viewLabels[value]}
        </LinkButton>
      ))}
    </fieldset>
  )
}

function Nothing({ span, kind }: { span: Span; kind: CalendarKind | undefined }) {
  if (kind === 'broadcast') return <NoBroadcast span={span} />
  const subject = kind === undefined ? 'task and no announcement' : entryKindText(kind).toLowerCase()
  return (
    <Panel>
      <div className={classes['nothing']}>
        <p>
          No {subject} has a start or an end in {isolated(span.title)}.
        </p>
        <p className={classes['note']}>
          Dates are set in the form of a task or an announcement, under When and for whom. Items without dates are not in the
          calendar.
        </p>
        <LinkButton to={listPaths.announcements} variant="default">
          Announcements
        </LinkButton>
      </div>
    </Panel>
  )
}

function NoBroadcast({ span }: { span: Span }) {
  return (
    <Panel>
      <div className={classes['nothing']}>
        <p>No broadcast is sent in {isolated(span.title)}.</p>
        <LinkButton to="/broadcasts" variant="default">
          Broadcasts
        </LinkButton>
      </div>
    </Panel>
  )
}

const MINUTE_MS = 60_000

/** Returns the present moment, which goes on every minute. */
function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/**
 * The activity below the dashboard's cards: charts over time, top balances, and the items with most participants. It is loaded after the
 * cards and kept up to date by server events.
 */
import type { Activity as ActivityData } from '@arcade/contract/dashboard/calls'
import { type ActivityRange, DEFAULT_ACTIVITY_RANGE, RANKS_SHOWN } from '@arcade/contract/dashboard/fields'
import { isErased, playerName } from '@arcade/contract/players/fields'
import { taskTypeLabels } from '@arcade/contract/tasks/fields'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, follow, queryClient } from '#src/client.ts'
import { BarsOverTime, ChartPanel, Ranks } from './chart.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { Panel, Problem } from '#src/ui/page.tsx'
import { ActivitySkeleton } from './activity-skeleton.tsx'
import classes from './dashboard-page.module.css'
import { AllLink, ListLink, lists } from './list-link.tsx'

const ranges: { range: ActivityRange; label: string; name: string }[] = [
  { range: '24h', label: '24 h', name: 'the last 24 hours' },
  { range: '7d', label: '7 d', name: 'the last 7 days' },
  { range: '30d', label: '30 d', name: 'the last 30 days' },
  { range: 'all', label: 'All', name: 'all of the time' },
]

export function Activity() {
  const { range = DEFAULT_ACTIVITY_RANGE } = useSearch({ strict: false }) as { range?: ActivityRange }
  const { data, isError, isPlaceholderData, refetch } = useQuery({
    ...api.dashboard.activity.queryOptions({ input: { range } }),
    placeholderData: keepPreviousData,
  })
  const isLive = useLiveFigures(range)
  return (
    <section className={classes['activity']} aria-label="Activity">
      <header className={classes['activityHeader']}>
        <h2>Activity</h2>
        <span className={classes['live']} data-live={isLive || undefined}>
          {isLive ? 'Live' : 'Connecting'}
        </span>
        <fieldset className={classes['ranges']} aria-label="Range of time">
          {ranges.map(({ range: value, label, name }) => (
            <Link
              key={value}
              to="."
              search={rangeSearch(value)}
              replace
              resetScroll={false}
              activeOptions={{ exact: true }}
              aria-current={value === range ? 'page' : undefined} // also if the address names the default range
            >
              {label}
              <span className="app-sr-only">: {name}</span>
            </Link>
          ))}
        </fieldset>
      </header>
      {data ? (
        <Panels activity={data} range={range} isStale={isPlaceholderData} />
      ) : isError ? (
        <Panel>
          <Problem message="The activity cannot be shown right now." onRetry={() => void refetch()} />
        </Panel>
      ) : (
        <ActivitySkeleton />
      )}
    </section>
  )
}

function rangeSearch(range: ActivityRange): { range?: ActivityRange } {
  return range === DEFAULT_ACTIVITY_RANGE ? {} : { range }
}

/** Whether the figures are being kept up to date. Changes are not announced to screen readers, because they are frequent. */
function useLiveFigures(range: ActivityRange): boolean {
  const [isLive, setIsLive] = useState(false)
  useEffect(() => {
    const metricsKey = api.dashboard.get.queryKey()
    const activityKey = api.dashboard.activity.queryKey({ input: { range } })
    return follow(
      'figures',
      { range },
      {
        onOpen: ({ metrics, activity }) => {
          setIsLive(true)
          // Figures that have changed since they were loaded are loaded again.
          const isKnown = (key: readonly unknown[], data: object) =>
            JSON.stringify(queryClient.getQueryData(key)) === JSON.stringify(data)
          if (!isKnown(metricsKey, metrics)) void queryClient.invalidateQueries({ queryKey: metricsKey })
          if (!isKnown(activityKey, activity)) void queryClient.invalidateQueries({ queryKey: activityKey })
        },
        onChange: ({ metrics, activity }) => {
          // An answer that is still on its way is older than this event.
          for (const queryKey of [metricsKey, activityKey]) void queryClient.cancelQueries({ queryKey })
          queryClient.setQueryData(metricsKey, metrics)
          queryClient.setQueryData(activityKey, activity)
        },
        onLost: () => setIsLive(false),
      },
    )
  }, [range])
  return isLive
}

type Point = ActivityData['points'][number]

const participationsAt = ({ social, daily, announcement }: Point): number => social + daily + announcement

const playersAt = ({ players }: Point): number => players

const paidAt = ({ paid }: Point): number => paid

const paidNote = 'Rewards of claims, as they were paid; without reversals, rounds and imports.'

/** Items in the ranking: fewer than in the table, because the panel is beside a chart. */
const PAID_ITEMS_SHOWN = 5

/** The names of the units of time: `when` heads the column of a table, `counted` is beside a chart's title. */
const unitTexts: Record<ActivityData['unit'], { when: string; counted: string }> = {
  hour: { when: 'Hour (your time)', counted: 'Hours of your time' },
  day: { when: 'Day (UTC)', counted: 'Days in UTC' },
  month: { when: 'Month (UTC)', counted: 'Months in UTC' },
  year: { when: 'Year (UTC)', counted: 'Years in UTC' },
}

interface PanelsProps {
  activity: ActivityData
  /** The chosen range. `activity` may still be that of the previous range. */
  range: ActivityRange
  isStale: boolean
}

function Panels({ activity, range, isStale }: PanelsProps) {
  const { unit, points, types, topPlayers, topItems, paidItems } = activity
  const times = points.map((point) => ({ point, key: point.at, ...formatTime(point.at, unit) }))
  const newestFirst = times.toReversed() // in tables, as in History and ledgers
  const joined = points.reduce((sum, { players }) => sum + players, 0)
  const participations = points.reduce((sum, point) => sum + participationsAt(point), 0)
  const paid = points.reduce((sum, point) => sum + point.paid, 0)
  const lastJoined = useLast(activity, range, playersAt)
  const lastTaken = useLast(activity, range, participationsAt)
  const takenHint = <LastOne what="participation" last={lastTaken} />
  const paidHint = <LastOne what="reward" last={useLast(activity, range, paidAt)} />
  const { when, counted: countedIn } = unitTexts[unit]
  return (
    <div className={classes['panels']}>
      <ChartPanel
        title="New players"
        unit={countedIn}
        aside={<Sum value={joined} list={lists.newestPlayers} label="See the newest players" />}
        emptyText="No players have joined in this time."
        emptyHint={<LastOne what="new player" last={lastJoined} />}
        isEmpty={joined === 0}
        isStale={isStale}
        columns={[when, 'New players']}
        rows={newestFirst.map(({ key, text, point }) => ({ key, cells: [text, point.players] }))}
      >
        <BarsOverTime
          label="New players"
          points={times.map(({ key, name, tick, point }) => ({ key, name, tick, value: point.players }))}
          describe={(value) => counted(value, 'new player')}
        />
      </ChartPanel>
      <ChartPanel
        title="Participations"
        unit={countedIn}
        aside={<Sum value={participations} list={lists.history} label="See who took part" />}
        emptyText="Nobody has taken part in this time."
        emptyHint={takenHint}
        isEmpty={participations === 0}
        isStale={isStale}
        columns={[when, 'Social', 'Daily', 'Announcement', 'All']}
        rows={newestFirst.map(({ key, text, point }) => ({
          key,
          cells: [text, point.social, point.daily, point.announcement, participationsAt(point)],
        }))}
      >
        <BarsOverTime
          label="Participations"
          points={times.map(({ key, name, tick, point }) => ({ key, name, tick, value: participationsAt(point) }))}
          describe={(value) => counted(value, 'participation')}
        />
      </ChartPanel>
      <ChartPanel
        title="Rewards paid"
        unit={countedIn}
        aside={<span className={classes['sum']}>{formatted(paid)}</span>}
        note={paidNote}
        emptyText="No reward of a claim was paid in this time."
        emptyHint={paidHint}
        isEmpty={paid === 0}
        isStale={isStale}
        columns={[when, 'Rewards paid']}
        rows={newestFirst.map(({ key, text, point }) => ({ key, cells: [text, point.paid] }))}
      >
        <BarsOverTime
          label="Rewards paid"
          points={times.map(({ key, name, tick, point }) => ({ key, name, tick, value: point.paid }))}
          describe={(value) => `${formatted(value)} paid`}
        />
      </ChartPanel>
      <ChartPanel
        title="Rewards per item"
        note={paidNote}
        emptyText="No reward of a claim was paid in this time."
        emptyHint={paidHint}
        isEmpty={paidItems.length === 0}
        isStale={isStale}
        columns={['Title', 'Of', 'Rewards paid']}
        rows={paidItems.map((item) => ({
          key: `${item.kind} ${item.id}`,
          cells: [<ItemLink key="item" item={item} />, kindNames[item.kind], item.paid],
        }))}
      >
        <Ranks
          label="Rewards per item"
          ranks={paidItems.slice(0, PAID_ITEMS_SHOWN).map((item) => ({
            key: `${item.kind} ${item.id}`,
            label: <ItemLink item={item} />,
            note: kindNames[item.kind],
            value: item.paid,
          }))}
        />
      </ChartPanel>
      <ChartPanel
        title="Participations by type"
        emptyText="Nobody has taken part in this time."
        emptyHint={takenHint}
        isEmpty={types.length === 0}
        isStale={isStale}
        columns={['Type', 'Of', 'Participations']}
        rows={types.map(({ kind, type, participations: value }) => ({
          key: `${kind} ${type}`,
          cells: [<TypeLink key="type" kind={kind} type={type} />, kindNames[kind], value],
        }))}
      >
        <Ranks
          label="Participations by type"
          ranks={types.slice(0, RANKS_SHOWN).map(({ kind, type, participations: value }) => ({
            key: `${kind} ${type}`,
            label: <TypeLink kind={kind} type={type} />,
            note: kindNames[kind],
            value,
          }))}
        />
      </ChartPanel>
      <ChartPanel
        title="Top balances"
        aside={<AllLink list={lists.players} label="See players by balance" />}
        emptyText="There are no players yet."
        isEmpty={topPlayers.length === 0}
        columns={['Player', 'Balance']}
        rows={topPlayers.map((player) => ({
          key: String(player.userId),
          cells: [<PlayerLink key="player" player={player} />, player.balance],
        }))}
      >
        <Ranks
          label="Top balances"
          hasBars={false}
          ranks={topPlayers.map((player) => ({
            key: String(player.userId),
            label: <PlayerLink player={player} />,
            note: [player.username && `@${player.username}`, player.userId]
              .filter((part) => part && String(part) !== shownName(player))
              .join(' · '),
            value: player.balance,
          }))}
        />
      </ChartPanel>
      <ChartPanel
        title="Most participants this week"
        emptyText="Nobody has taken part this week."
        emptyHint={<LastOne what="participation" last={lastTaken && { ...lastTaken, range: undefined }} />}
        isEmpty={topItems.length === 0}
        columns={['Title', 'Of', 'Participants']}
        rows={topItems.map((item) => ({
          key: `${item.kind} ${item.id}`,
          cells: [<ItemLink key="item" item={item} />, kindNames[item.kind], item.participations],
        }))}
      >
        <Ranks
          label="Most participants this week"
          ranks={topItems.map((item) => ({
            key: `${item.kind} ${item.id}`,
            label: <ItemLink item={item} />,
            note: kindNames[item.kind],
            value: item.participations,
          }))}
        />
      </ChartPanel>
    </div>
  )
}

interface Last {
  /** In words, as exact as the unit in which it was counted. */
  time: string
  /** The shortest range that shows it; undefined if the chosen range does. */
  range: ActivityRange | undefined
}

/** Returns the last time at which `countOf` was above 0, also in longer ranges; undefined while it loads or if there is none. */
function useLast(activity: ActivityData, range: ActivityRange, countOf: (point: Point) => number): Last | undefined {
  const here = findLast(activity, countOf)
  const query = (earlier: ActivityRange, isWanted: boolean) =>
    api.dashboard.activity.queryOptions({ input: { range: earlier }, ...(!isWanted && { enabled: false }) })
  const isShort = range === '24h' || range === '7d'
  const month = useQuery(query('30d', !here && isShort)).data
  const inMonth = month && findLast(month, countOf)
  const ever = useQuery(query('all', !here && (range === '30d' || (isShort && month !== undefined && !inMonth)))).data
  if (here) return { time: here.time, range: undefined }
  if (month && inMonth) return { time: inMonth.time, range: inMonth.daysAgo < 7 && range === '24h' ? '7d' : '30d' }
  const inAll = ever && findLast(ever, countOf)
  return inAll && { time: inAll.time, range: 'all' }
}

function findLast({ points, unit }: ActivityData, countOf: (point: Point) => number) {
  const index = points.findLastIndex((point) => countOf(point) > 0)
  const point = points[index]
  return point && { time: formatTime(point.at, unit).name, daysAgo: points.length - 1 - index }
}

/** Says in an empty panel when there was last something to show, and links to a range that shows it. */
function LastOne({ what, last }: { what: string; last: Last | undefined }) {
  if (!last) return null
  const offered = ranges.find(({ range }) => range === last.range)
  return (
    <>
      <p className={classes['last']}>
        Last {what}: {last.time}
      </p>
      {offered && (
        <p className={classes['last']}>
          <Link to="." search={rangeSearch(offered.range)} replace resetScroll={false}>
            Show {offered.name}
          </Link>
        </p>
      )}
    </>
  )
}

function Sum({ value, list, label }: { value: number; list: { to: string }; label: string }) {
  return (
    <span className={classes['sum']}>
      {formatted(value)}
      <AllLink list={list} label={label} />
    </span>
  )
}

const kindNames: Record<ActivityData['types'][number]['kind'], string> = {
  social: 'Social task',
  daily: 'Daily task',
  announcement: 'Announcement',
}

/** The names of types. The panel adds the kind of item (`Twitter tasks`), because the cards above use the names alone (§2). */
const typeNames: Record<string, string> = {
  ...taskTypeLabels,
  desc: 'Text',
  link: 'Link',
}

function TypeLink({ kind, type }: Pick<ActivityData['types'][number], 'kind' | 'type'>) {
  const items = kind === 'announcement' ? 'announcements' : 'tasks'
  return <ListLink list={lists.itemsOfType(kind, type)}>{`${typeNames[type] ?? type} ${items}`}</ListLink>
}

type TopPlayer = ActivityData['topPlayers'][number]

function shownName(player: TopPlayer): string {
  return isErased(player) ? 'Erased player' : playerName(player)
}

function PlayerLink({ player }: { player: TopPlayer }) {
  return <ListLink list={lists.player(player.userId)}>{shownName(player)}</ListLink>
}

function ItemLink({ item }: { item: Pick<ActivityData['topItems'][number], 'kind' | 'id' | 'title'> }) {
  return <ListLink list={lists.historyOf(item.kind, item.id)}>{item.title}</ListLink>
}

const formats = {
  hour: { tick: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, name: { dateStyle: 'medium', timeStyle: 'short' } },
  day: { tick: { month: 'short', day: 'numeric', timeZone: 'UTC' }, name: { dateStyle: 'medium', timeZone: 'UTC' } },
  month: {
    tick: { month: 'short', year: 'numeric', timeZone: 'UTC' },
    name: { month: 'long', year: 'numeric', timeZone: 'UTC' },
  },
  year: { tick: { year: 'numeric', timeZone: 'UTC' }, name: { year: 'numeric', timeZone: 'UTC' } },
} as const satisfies Record<ActivityData['unit'], Record<'tick' | 'name', Intl.DateTimeFormatOptions>>

/** Formats hours in the operator's time zone. Longer units are counted in UTC, so they are formatted in UTC, and `name` says so. */
function formatTime(at: string, unit: ActivityData['unit']): { tick: string; text: string; name: string } {
  const date = new Date(at)
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options).format(date)
  const text = format(formats[unit].name)
  return { tick: format(formats[unit].tick), text, name: unit === 'hour' ? text : `${text} (UTC)` }
}

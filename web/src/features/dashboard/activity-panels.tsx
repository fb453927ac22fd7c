/** The panels of the dashboard's activity: three charts over time with one crosshair, and four rankings. Empty panels take no room. */
import type { Activity } from '@arcade/contract/dashboard/calls'
import { type ActivityRange, RANKS_SHOWN } from '@arcade/contract/dashboard/fields'
import { isErased, playerName } from '@arcade/contract/players/fields'
import { taskTypeLabels } from '@arcade/contract/tasks/fields'
import { isBlank, isolated } from '@arcade/contract/text'
import { IconBan } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode, useMemo, useState } from 'react'
import { RowMark } from '#src/lists/row-mark.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { ChartPanel, type Rank, Ranks } from '#src/ui/chart-panel.tsx'
import classes from './dashboard-page.module.css'
import type { ChartPoint } from '#src/ui/draw-chart.ts'
import { AllLink, ListLink, listTargets } from './list-link.tsx'
import { TimeChart } from '#src/ui/time-chart.tsx'
import { formatTime, type Point, rangeOf, rangeSearch } from './times.ts'

interface PanelsProps {
  activity: Activity
  /** The chosen range. `activity` may still be that of the previous range. */
  range: ActivityRange
  isStale: boolean
}

export function Panels({ activity, range, isStale }: PanelsProps) {
  const charts = timePanels.filter(({ countOf }) => activity.points.some((point) => countOf(point) > 0))
  const rankings = [rewardsPerItem(activity), participationsByType(activity), topBalances(activity), topItems(activity)]
  const shown = rankings.filter(({ ranks }) => ranks.length > 0)
  const empty = [...timePanels.filter((panel) => !charts.includes(panel)), ...rankings.filter((one) => !shown.includes(one))]
  return (
    <>
      {charts.length > 0 && <TimePanels panels={charts} activity={activity} isStale={isStale} />}
      {shown.length > 0 && (
        <div className={classes['panels']} data-ranks>
          {shown.map((ranking) => (
            <RankPanel key={ranking.title} {...ranking} isStale={isStale && !ranking.hasOwnTime} />
          ))}
        </div>
      )}
      {empty.length > 0 && <EmptyPanels titles={empty.map(({ title }) => title)} range={range} />}
    </>
  )
}

/** Names the panels that have nothing to show. */
function EmptyPanels({ titles, range }: { titles: string[]; range: ActivityRange }) {
  const longer = range === 'all' ? undefined : rangeOf(range === '30d' ? 'all' : '30d')
  return (
    <p className={`${classes['nothing']} ${classes['phrases']}`}>
      Nothing to show:{' '}
      {titles.map((title, index) => (
        <Fragment key={title}>
          <span>
            {title}
            {index < titles.length - 1 ? ',' : '.'}
          </span>{' '}
        </Fragment>
      ))}
      {longer && (
        <Link to="." search={rangeSearch(longer.range)} resetScroll={false}>
          Show {longer.name}
        </Link>
      )}
    </p>
  )
}

interface TimePanelTexts {
  title: string
  countOf: (point: Point) => number
  /** The summands of the count, which are columns of the table, by their headers. */
  parts?: Record<string, (point: Point) => number>
  /** A link beside the title. */
  link?: { list: { to: string }; label: string }
  note?: string
  /** A count with its noun. */
  describe: (value: number) => string
}

const paidNote = 'Of claims; without reversals, rounds and imports.'

const timePanels: readonly TimePanelTexts[] = [
  {
    title: 'New players',
    countOf: ({ players }) => players,
    link: { list: listTargets.newestPlayers, label: 'See the newest players' },
    describe: (value) => counted(value, 'new player'),
  },
  {
    title: 'Participations',
    countOf: ({ social, daily, announcement }) => social + daily + announcement,
    parts: { Social: ({ social }) => social, Daily: ({ daily }) => daily, Announcement: (point) => point.announcement },
    link: { list: listTargets.history, label: 'See who took part' },
    describe: (value) => counted(value, 'participation'),
  },
  { title: 'Rewards paid', countOf: ({ paid }) => paid, note: paidNote, describe: (value) => `${formatted(value)} paid` },
]

/** The head of a table's column of times. */
const unitNames: Record<Activity['unit'], string> = { hour: 'Hour', day: 'Day', month: 'Month', year: 'Year' }

interface TimePanelsProps extends Pick<PanelsProps, 'activity' | 'isStale'> {
  panels: readonly TimePanelTexts[]
}

/** The charts over time, which share a crosshair. Only these are rendered when it moves. */
function TimePanels({ panels, ...shown }: TimePanelsProps) {
  const [at, setAt] = useState<number>()
  return (
    <div className={classes['panels']}>
      {panels.map((panel) => (
        <TimePanel key={panel.title} {...panel} {...shown} at={at} onMove={setAt} />
      ))}
    </div>
  )
}

interface TimePanelProps extends TimePanelTexts {
  activity: Activity
  isStale: boolean
  /** The point at the crosshair, in all charts. */
  at: number | undefined
  onMove: (at: number | undefined) => void
}

function TimePanel({ activity, isStale, at, onMove, title, countOf, parts, link, note, describe }: TimePanelProps) {
  const { unit, points, previous, range } = activity
  // The chart is drawn again when its points change, but not when the crosshair moves.
  const times = useMemo(
    () =>
      points.map((point, index): ChartPoint => {
        const { name, tick } = formatTime(point.at, unit)
        const earlier = previous[index]
        return {
          name: index === points.length - 1 ? `${name}, so far` : name,
          tick,
          value: countOf(point),
          before: earlier && countOf(earlier),
        }
      }),
    [unit, points, previous, countOf],
  )
  const shown = at === undefined ? undefined : times[at]
  const sum = times.reduce((total, { value }) => total + value, 0)
  const before = previous.length > 0 ? previous.reduce((total, point) => total + countOf(point), 0) : undefined
  return (
    <ChartPanel
      title={title}
      aside={link && <AllLink {...link} />}
      figure={
        <p className={classes['reading']}>
          <b>{formatted(shown ? shown.value : sum)}</b>
          <span>{shown ? readingOf(shown) : sumText(range, before)}</span>
        </p>
      }
      note={note}
      isStale={isStale}
      columns={parts ? [unitNames[unit], ...Object.keys(parts), 'All'] : [unitNames[unit], title]}
      // The newest comes first, as in History and ledgers.
      rows={points.toReversed().map((point) => ({
        key: point.at,
        cells: [formatTime(point.at, unit).name, ...Object.values(parts ?? {}).map((partOf) => partOf(point)), countOf(point)],
      }))}
    >
      <TimeChart
        label={title}
        points={times}
        describe={({ name, value, before: earlier }) =>
          `${name}: ${describe(value)}${earlier === undefined ? '' : `, ${formatted(earlier)} before`}`
        }
        at={at}
        onMove={onMove}
      />
    </ChartPanel>
  )
}

function readingOf({ name, before }: ChartPoint): string {
  return before === undefined ? name : `${name} · ${formatted(before)} before`
}

function sumText(range: ActivityRange, before: number | undefined): string {
  const texts = rangeOf(range)
  return before === undefined ? `in ${texts.name}` : `${formatted(before)} in ${texts.before}`
}

interface Ranking {
  title: string
  note?: string
  aside?: ReactNode
  columns: readonly string[]
  ranks: readonly Rank[]
  hasBars?: boolean
  hasNotes?: boolean
  /** Whether the chosen range changes nothing. */
  hasOwnTime?: boolean
}

function RankPanel({ isStale, hasBars = true, hasNotes = true, ...ranking }: Ranking & { isStale: boolean }) {
  const { title, note, aside, columns, ranks } = ranking
  return (
    <ChartPanel
      title={title}
      aside={aside}
      note={note}
      isStale={isStale}
      columns={columns}
      rows={ranks.map(({ key, label, note: of, value }) => ({ key, cells: hasNotes ? [label, of, value] : [label, value] }))}
    >
      <Ranks label={title} hasBars={hasBars} ranks={ranks.slice(0, RANKS_SHOWN)} />
    </ChartPanel>
  )
}

function rewardsPerItem({ paidItems }: Activity): Ranking {
  return {
    title: 'Rewards per item',
    note: paidNote,
    columns: ['Title', 'Of', 'Rewards paid'],
    ranks: paidItems.map((item) => ({ ...itemRank(item), value: item.paid })),
  }
}

function participationsByType({ types }: Activity): Ranking {
  return {
    title: 'Participations by type',
    columns: ['Type', 'Of', 'Participations'],
    ranks: types.map(({ kind, type, participations }) => ({
      key: `${kind} ${type}`,
      label: <TypeLink kind={kind} type={type} />,
      note: kindNames[kind],
      value: participations,
    })),
  }
}

function topBalances({ topPlayers }: Activity): Ranking {
  return {
    title: 'Top balances',
    aside: <AllLink list={listTargets.players} label="See players by balance" />,
    columns: ['Player', 'Balance'],
    ranks: topPlayers.map((player) => ({
      key: String(player.userId),
      label: (
        <>
          {player.isBlocked && <RowMark icon={IconBan} label="Blocked" isWarning />}
          <ListLink list={listTargets.player(player.userId)}>{shownName(player)}</ListLink>
        </>
      ),
      note: [isBlank(player.username) ? '' : `@${player.username}`, String(player.userId)]
        .filter((part) => part !== '' && part !== shownName(player))
        .map(isolated)
        .join(' · '),
      value: player.balance,
    })),
    hasBars: false,
    hasNotes: false,
    hasOwnTime: true,
  }
}

function topItems(activity: Activity): Ranking {
  return {
    title: 'Most participants this week',
    columns: ['Title', 'Of', 'Participants'],
    ranks: activity.topItems.map((item) => ({ ...itemRank(item), value: item.participations })),
    hasOwnTime: true,
  }
}

const kindNames: Record<Activity['types'][number]['kind'], string> = {
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

function TypeLink({ kind, type }: Pick<Activity['types'][number], 'kind' | 'type'>) {
  const items = kind === 'announcement' ? 'announcements' : 'tasks'
  return <ListLink list={listTargets.itemsOfType(kind, type)}>{`${typeNames[type] ?? type} ${items}`}</ListLink>
}

/** Returns what the ranking of items shows of an item, without its value. */
function itemRank({ kind, id, title }: Pick<Activity['topItems'][number], 'kind' | 'id' | 'title'>) {
  return {
    key: `${kind} ${id}`,
    label: <ListLink list={listTargets.historyOf(kind, id)}>{title}</ListLink>,
    note: kindNames[kind],
  }
}

function shownName(player: Activity['topPlayers'][number]): string {
  return isErased(player) ? 'Erased player' : playerName(player)
}

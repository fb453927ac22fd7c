/** The panels of the dashboard's activity: three charts over time and four rankings. */
import type { Activity } from '@arcade/contract/dashboard/calls'
import { type ActivityRange, RANKS_SHOWN } from '@arcade/contract/dashboard/fields'
import { isErased, playerName } from '@arcade/contract/players/fields'
import { taskTypeLabels } from '@arcade/contract/tasks/fields'
import { isBlank, isolated } from '@arcade/contract/text'
import { IconBan } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { RowMark } from '#src/lists/row-mark.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { BarsOverTime, ChartPanel, Ranks } from './chart.tsx'
import classes from './dashboard-page.module.css'
import { formatTime, LastActivity, type Point } from './last-activity.tsx'
import { AllLink, ListLink, lists } from './list-link.tsx'

export interface PanelsProps {
  activity: Activity
  /** The chosen range. `activity` may still be that of the previous range. */
  range: ActivityRange
  isStale: boolean
}

export function Panels(props: PanelsProps) {
  return (
    <div className={classes['panels']}>
      <TimePanels {...props} />
      <RewardsPerItem {...props} />
      <ParticipationsByType {...props} />
      <TopBalances {...props} />
      <TopItems {...props} />
    </div>
  )
}

const participationsAt = ({ social, daily, announcement }: Point): number => social + daily + announcement

const playersAt = ({ players }: Point): number => players

const paidAt = ({ paid }: Point): number => paid

const paidNote = 'Rewards of claims, as they were paid; without reversals, rounds and imports.'

function TimePanels(props: PanelsProps) {
  return (
    <>
      <TimePanel
        {...props}
        title="New players"
        what="new player"
        countOf={playersAt}
        link={{ list: lists.newestPlayers, label: 'See the newest players' }}
        emptyText="No players have joined in this time."
        describe={(value) => counted(value, 'new player')}
      />
      <TimePanel
        {...props}
        title="Participations"
        what="participation"
        countOf={participationsAt}
        parts={{ Social: ({ social }) => social, Daily: ({ daily }) => daily, Announcement: (point) => point.announcement }}
        link={{ list: lists.history, label: 'See who took part' }}
        emptyText="Nobody has taken part in this time."
        describe={(value) => counted(value, 'participation')}
      />
      <TimePanel
        {...props}
        title="Rewards paid"
        what="reward"
        countOf={paidAt}
        note={paidNote}
        emptyText="No reward of a claim was paid in this time."
        describe={(value) => `${formatted(value)} paid`}
      />
    </>
  )
}

/** The names of the units of time: `when` heads the column of a table, `counted` is beside a chart's title. */
const unitTexts: Record<Activity['unit'], { when: string; counted: string }> = {
  hour: { when: 'Hour (your time)', counted: 'Hours of your time' },
  day: { when: 'Day (UTC)', counted: 'Days in UTC' },
  month: { when: 'Month (UTC)', counted: 'Months in UTC' },
  year: { when: 'Year (UTC)', counted: 'Years in UTC' },
}

interface TimePanelProps extends PanelsProps {
  title: string
  /** What is counted, in the singular. */
  what: string
  countOf: (point: Point) => number
  /** The summands of the count, which are columns of the table, by their headers. */
  parts?: Record<string, (point: Point) => number>
  /** A link beside the sum. */
  link?: { list: { to: string }; label: string }
  note?: string
  emptyText: string
  describe: (value: number) => string
}

function TimePanel({ activity, range, isStale, title, what, countOf, parts, link, note, emptyText, describe }: TimePanelProps) {
  const { unit, points } = activity
  const times = points.map((point) => ({ point, key: point.at, value: countOf(point), ...formatTime(point.at, unit) }))
  const sum = times.reduce((total, { value }) => total + value, 0)
  const { when, counted: countedIn } = unitTexts[unit]
  const newestFirst = times.toReversed() // in tables, as in History and ledgers
  return (
    <ChartPanel
      title={title}
      unit={countedIn}
      aside={
        <span className={classes['sum']}>
          {formatted(sum)}
          {link && <AllLink {...link} />}
        </span>
      }
      {...(note !== undefined && { note })}
      emptyText={emptyText}
      emptyHint={<LastActivity activity={activity} range={range} what={what} countOf={countOf} />}
      isEmpty={sum === 0}
      isStale={isStale}
      columns={parts ? [when, ...Object.keys(parts), 'All'] : [when, title]}
      rows={newestFirst.map(({ key, text, point, value }) => ({
        key,
        cells: [text, ...Object.values(parts ?? {}).map((partOf) => partOf(point)), value],
      }))}
    >
      <BarsOverTime
        label={title}
        points={times.map(({ key, name, tick, value }) => ({ key, name, tick, value }))}
        describe={describe}
      />
    </ChartPanel>
  )
}

/** Items in the ranking: fewer than in the table, because the panel is beside a chart. */
const PAID_ITEMS_SHOWN = 5

function RewardsPerItem({ activity, range, isStale }: PanelsProps) {
  const items = activity.paidItems.map((item) => ({ ...itemRank(item), value: item.paid }))
  return (
    <ChartPanel
      title="Rewards per item"
      note={paidNote}
      emptyText="No reward of a claim was paid in this time."
      emptyHint={<LastActivity activity={activity} range={range} what="reward" countOf={paidAt} />}
      isEmpty={items.length === 0}
      isStale={isStale}
      columns={['Title', 'Of', 'Rewards paid']}
      rows={items.map(toRow)}
    >
      <Ranks label="Rewards per item" ranks={items.slice(0, PAID_ITEMS_SHOWN)} />
    </ChartPanel>
  )
}

function ParticipationsByType({ activity, range, isStale }: PanelsProps) {
  const types = activity.types.map(({ kind, type, participations }) => ({
    key: `${kind} ${type}`,
    label: <TypeLink kind={kind} type={type} />,
    note: kindNames[kind],
    value: participations,
  }))
  return (
    <ChartPanel
      title="Participations by type"
      emptyText="Nobody has taken part in this time."
      emptyHint={<LastActivity activity={activity} range={range} what="participation" countOf={participationsAt} />}
      isEmpty={types.length === 0}
      isStale={isStale}
      columns={['Type', 'Of', 'Participations']}
      rows={types.map(toRow)}
    >
      <Ranks label="Participations by type" ranks={types.slice(0, RANKS_SHOWN)} />
    </ChartPanel>
  )
}

function TopBalances({ activity: { topPlayers } }: PanelsProps) {
  const players = topPlayers.map((player) => ({
    key: String(player.userId),
    label: (
      <>
        {player.isBlocked && <RowMark icon={IconBan} label="Blocked" isWarning />}
        <ListLink list={lists.player(player.userId)}>{shownName(player)}</ListLink>
      </>
    ),
    note: [isBlank(player.username) ? '' : `@${player.username}`, String(player.userId)]
      .filter((part) => part !== '' && part !== shownName(player))
      .map(isolated)
      .join(' · '),
    value: player.balance,
  }))
  return (
    <ChartPanel
      title="Top balances"
      aside={<AllLink list={lists.players} label="See players by balance" />}
      emptyText="There are no players yet."
      isEmpty={players.length === 0}
      columns={['Player', 'Balance']}
      rows={players.map(({ key, label, value }) => ({ key, cells: [label, value] }))}
    >
      <Ranks label="Top balances" hasBars={false} ranks={players} />
    </ChartPanel>
  )
}

function TopItems({ activity, range }: PanelsProps) {
  const items = activity.topItems.map((item) => ({ ...itemRank(item), value: item.participations }))
  return (
    <ChartPanel
      title="Most participants this week"
      emptyText="Nobody has taken part this week."
      emptyHint={
        <LastActivity activity={activity} range={range} what="participation" countOf={participationsAt} hasLink={false} />
      }
      isEmpty={items.length === 0}
      columns={['Title', 'Of', 'Participants']}
      rows={items.map(toRow)}
    >
      <Ranks label="Most participants this week" ranks={items} />
    </ChartPanel>
  )
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
  return <ListLink list={lists.itemsOfType(kind, type)}>{`${typeNames[type] ?? type} ${items}`}</ListLink>
}

/** Returns the row of a ranking's table. */
function toRow({ key, label, note, value }: { key: string; label: ReactNode; note: string; value: number }) {
  return { key, cells: [label, note, value] }
}

/** Returns what the ranking of items shows of an item, without its value. */
function itemRank({ kind, id, title }: Pick<Activity['topItems'][number], 'kind' | 'id' | 'title'>) {
  return { key: `${kind} ${id}`, label: <ListLink list={lists.historyOf(kind, id)}>{title}</ListLink>, note: kindNames[kind] }
}

function shownName(player: Activity['topPlayers'][number]): string {
  return isErased(player) ? 'Erased player' : playerName(player)
}

/** What a broadcast has brought: reached, seen, claimed, the cost, claims by hour, and the difference to the control group. */
import type { BroadcastReport } from '@arcade/contract/broadcasts/report'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { ChartPanel } from '#src/ui/chart-panel.tsx'
import type { ChartPoint } from '#src/ui/draw-chart.ts'
import { momentText } from '#src/ui/moment.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { Panel, Problem } from '#src/ui/page.tsx'
import { TimeChart } from '#src/ui/time-chart.tsx'
import classes from './broadcasts.module.css'
import { percentText, pointsText, smallText } from './words.ts'

/** How often the report is asked for while the broadcast is sent, and afterwards. */
const SENDING_REFRESH_MS = 10_000
const REFRESH_MS = 60_000

interface ReportProps {
  id: string
  isOver: boolean
  /** How many messages were sent. Each time that sending ends, the report is loaded again. */
  sent: number
}

export function Report({ id, isOver, sent }: ReportProps) {
  const query = useQuery(api.broadcasts.report.queryOptions({ input: { id } }))
  const { data, error, refetch } = query
  useAutoReload(query, { everyMs: isOver ? REFRESH_MS : SENDING_REFRESH_MS })
  const known = isOver ? sent : undefined
  const loaded = useRef(known)
  const loadAgain = useEffectEvent(() => void refetch())
  useEffect(() => {
    if (known === loaded.current) return
    loaded.current = known
    loadAgain()
  }, [known])

  if (!data && error)
    return (
      <Panel title="What it brought">
        <Problem {...problemOf(error, () => void refetch())} />
      </Panel>
    )
  return (
    <>
      <Panel title="What it brought">
        <Funnel report={data} />
        {!data ? (
          <output className={classes['hint']}>Counting who has seen and claimed it. This can take some seconds.</output>
        ) : data.control ? (
          <Control control={data.control} isOver={isOver} />
        ) : (
          <p className={classes['hint']}>
            Without a control group, nobody can say how many of them would have claimed without the message.
          </p>
        )}
      </Panel>
      {data && data.hours.length > 0 && <Hours hours={data.hours} />}
    </>
  )
}

/** Reached, seen and claimed, each with its share of those reached. Without a report, it keeps their places. */
function Funnel({ report }: { report: BroadcastReport | undefined }) {
  const { reached, seen, claimed, cost } = report ?? { reached: 0, seen: 0, claimed: 0, cost: 0 }
  const figure = (value: number) => (report ? formatted(value) : <span className={classes['waiting']} aria-hidden />)
  const steps = [
    { label: 'Reached', count: reached, hint: 'The message was sent to them' },
    { label: 'Seen', count: seen, hint: 'They were shown it in the game' },
    { label: 'Claimed', count: claimed, hint: 'After the message' },
  ]
  return (
    <dl className={classes['funnel']}>
      {steps.map(({ label, count, hint }, index) => {
        const share = reached === 0 ? 0 : count / reached
        return (
          <div key={label}>
            <dt>{label}</dt>
            <dd className={classes['figure']}>{figure(count)}</dd>
            <dd className={classes['reason']}>
              {index === 0 || !report ? hint : `${percentText(share)} of those reached · ${hint}`}
            </dd>
            <dd className={classes['share']} aria-hidden>
              <span style={{ width: `${(Math.min(1, index === 0 && reached > 0 ? 1 : share) * 100).toFixed(2)}%` }} />
            </dd>
          </div>
        )
      })}
      <div>
        <dt>Cost</dt>
        <dd className={classes['figure']}>{figure(cost)}</dd>
        <dd className={classes['reason']}>
          points{claimed > 0 && `, ${formatted(Math.round((cost / claimed) * 100) / 100)} a claim`}
        </dd>
      </div>
    </dl>
  )
}

type ControlGroup = NonNullable<BroadcastReport['control']>

/** The difference to the control group with its interval, in a sentence and on a line. */
function Control({ control, isOver }: { control: ControlGroup; isOver: boolean }) {
  const { messaged, held, difference, low, high, smallestDifference } = control
  return (
    <section aria-label="Control group" className={classes['control']}>
      <p className={classes['verdict']}>{verdictOf(control, isOver)}</p>
      <Interval difference={difference} low={low} high={high} />
      <dl className={classes['groups']}>
        <div>
          <dt>With the message</dt>
          <dd>
            {shareText(messaged)} <span className={classes['reason']}>{groupText(messaged)}</span>
          </dd>
        </div>
        <div>
          <dt>Held back</dt>
          <dd>
            {shareText(held)} <span className={classes['reason']}>{groupText(held)}</span>
          </dd>
        </div>
        <div>
          <dt>Difference</dt>
          <dd>
            {pointsText(difference)} points{' '}
            <span className={classes['reason']}>
              95 % interval: {pointsText(low)} to {pointsText(high)}
            </span>
          </dd>
        </div>
      </dl>
      <p className={classes['hint']}>
        Players who had claimed it before the broadcast began are not compared.
        {smallestDifference !== null && ` Groups of this size can show a difference of ${smallText(smallestDifference)} or more.`}
      </p>
    </section>
  )
}

function verdictOf({ low, high, held, messaged }: ControlGroup, isOver: boolean): string {
  if (held.players === 0 || messaged.players === 0) return 'There is nobody yet to compare.'
  if (low > 0) return 'The message has brought claims: the difference is larger than chance explains.'
  if (high < 0) return 'With the message, fewer players claimed than without, more than chance explains.'
  if (!isOver) return 'Not everybody has got the message yet, so no difference is certain.'
  return 'No difference is certain: chance alone can explain what is seen.'
}

interface Group {
  players: number
  claimed: number
}

function shareText({ players, claimed }: Group): string {
  return players === 0 ? '–' : percentText(claimed / players)
}

function groupText({ players, claimed }: Group): string {
  return `${formatted(claimed)} of ${counted(players, 'player')}`
}

/** The interval on a line whose middle is no difference. The figures beside it say the same. */
function Interval({ difference, low, high }: Pick<ControlGroup, 'difference' | 'low' | 'high'>) {
  const reach = Math.max(Math.abs(low), Math.abs(high), Number.EPSILON) * 1.15 // some room at both ends
  const at = (value: number) => `${(((value + reach) / (2 * reach)) * 100).toFixed(2)}%`
  return (
    <div className={classes['interval']} aria-hidden>
      <span className={classes['zero']} />
      <span className={classes['range']} style={{ insetInlineStart: at(low), insetInlineEnd: `calc(100% - ${at(high)})` }} />
      <span className={classes['estimate']} style={{ insetInlineStart: at(difference) }} />
    </div>
  )
}

const tick = new Intl.DateTimeFormat('en-US', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** Claims by hour, with the messages sent behind them in the table. */
function Hours({ hours }: Pick<BroadcastReport, 'hours'>) {
  const [at, setAt] = useState<number>()
  const points = useMemo(
    () =>
      hours.map(({ at: iso, claimed }, index): ChartPoint => ({
        name: index === hours.length - 1 ? `${momentText(iso)}, so far` : momentText(iso),
        tick: tick.format(new Date(iso)),
        value: claimed,
        before: undefined,
      })),
    [hours],
  )
  const shown = at === undefined ? undefined : points[at]
  const sum = hours.reduce((all, { claimed }) => all + claimed, 0)
  return (
    <ChartPanel
      title="Claims by hour"
      figure={
        <p className={classes['reading']}>
          <b>{formatted(shown ? shown.value : sum)}</b> <span>{shown ? shown.name : `in ${counted(hours.length, 'hour')}`}</span>
        </p>
      }
      columns={['Hour', 'Sent', 'Claimed']}
      rows={hours.toReversed().map(({ at: iso, sent, claimed }) => ({ key: iso, cells: [momentText(iso), sent, claimed] }))}
    >
      <TimeChart
        label="Claims by hour"
        points={points}
        describe={({ name, value }) => `${name}: ${counted(value, 'claim')}`}
        at={at}
        onMove={setAt}
      />
    </ChartPanel>
  )
}

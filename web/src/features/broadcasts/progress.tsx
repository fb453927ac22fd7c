/** How far a broadcast is: its state in one sentence, the bar, and the number of recipients with each outcome. */
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { BroadcastStateChip } from '#src/lists/broadcast-state.tsx'
import {
  recipientOutcomeLabels,
  refusalReasonLabels,
  skipReasonLabels,
  waitReasonLabels,
} from '@arcade/contract/broadcasts/fields'
import type { ReactNode } from 'react'
import { Moment, TimeOfDay } from '#src/ui/moment.tsx'
import { formatted } from '#src/ui/numbers.ts'
import classes from './broadcasts.module.css'
import { barParts, OutcomeBar } from './outcome-bar.tsx'
import { isOver, isToday, outcomesOf, percentText, spanText } from './words.ts'

export function Progress({ broadcast }: { broadcast: Broadcast }) {
  const { state, problem, total, perMinute, sent, blocksPerThousand, isPlanned } = broadcast
  const { settled, of } = outcomesOf(broadcast)
  const isRunning = state === 'sending' || state === 'waiting'
  return (
    <div className={classes['progress']}>
      <div className={classes['head']}>
        <BroadcastStateChip state={state} />
        <p>
          <Sentence broadcast={broadcast} />
        </p>
      </div>
      {problem !== undefined && (
        <p role="alert" className={classes['problem']}>
          {problem}
        </p>
      )}
      {state !== 'scheduled' && (
        <>
          <div className={classes['lead']}>
            <p className={classes['leadFigure']}>{of === 0 ? '0 %' : percentText(settled / of)}</p>
            <p>
              {isPlanned
                ? `${formatted(settled)} of ${formatted(of)} recipients`
                : `${formatted(total)} recipients chosen so far`}
            </p>
            {isRunning && <p>{formatted(perMinute)} a minute</p>}
            {sent > 0 && <p>{formatted(blocksPerThousand)} in 1,000 have blocked the bot</p>}
          </div>
          <OutcomeBar broadcast={broadcast} isLarge />
          <Outcomes broadcast={broadcast} />
          {!isOver(broadcast) && isPlanned && (
            <p className={classes['hint']}>These recipients were chosen when sending began, and stay the same.</p>
          )}
        </>
      )}
    </div>
  )
}

/** What is going on, in one sentence. */
function Sentence({ broadcast }: { broadcast: Broadcast }): ReactNode {
  const { state, sendAt, waitingUntil, waitingFor, expectedAt, startedAt, doneAt, isPlanned } = broadcast
  if (state === 'scheduled')
    return sendAt === undefined ? (
      'It is about to begin.'
    ) : (
      <>
        It begins on <Moment iso={sendAt} />. The recipients are chosen then.
      </>
    )
  if (state === 'waiting')
    return (
      <>
        {waitingFor === undefined ? 'It waits' : waitReasonLabels[waitingFor]}
        {waitingUntil !== undefined && (
          <>
            {' '}
            until <SoonMoment iso={waitingUntil} />
          </>
        )}
        . It goes on by itself.
      </>
    )
  if (state === 'paused') return 'Nobody gets a message until it is resumed.'
  if (doneAt !== undefined)
    return (
      <>
        {state === 'cancelled' ? 'It was cancelled on ' : 'It was done on '}
        <Moment iso={doneAt} />
        {startedAt !== undefined && `, after ${spanText(startedAt, doneAt)}`}.
      </>
    )
  if (state === 'cancelled') return 'It was cancelled.'
  if (!isPlanned) return 'The recipients are being chosen.'
  return expectedAt === undefined ? (
    'It is being sent.'
  ) : (
    <>
      It is being sent, expected to be done at <SoonMoment iso={expectedAt} />.
    </>
  )
}

/** Shows the time of day, and the day only if it is another one. */
function SoonMoment({ iso }: { iso: string }) {
  return isToday(iso) ? <TimeOfDay iso={iso} /> : <Moment iso={iso} />
}

/** The number of recipients with each outcome, with the reasons of those who did not get the message. */
function Outcomes({ broadcast }: { broadcast: Broadcast }) {
  const { refusedFor, skippedFor } = broadcast
  const reasons: Partial<Record<(typeof barParts)[number], [string, number][]>> = {
    refused: named(refusalReasonLabels, refusedFor),
    skipped: named(skipReasonLabels, skippedFor),
  }
  return (
    <dl className={classes['outcomes']}>
      {(['sent', 'pending', 'refused', 'failed', 'unknown', 'skipped', 'held'] as const).map((outcome) => (
        <div key={outcome} data-part={outcome} data-none={broadcast[outcome] === 0 || undefined}>
          <dt>{recipientOutcomeLabels[outcome]}</dt>
          <dd>{formatted(broadcast[outcome])}</dd>
          {outcome !== 'pending' &&
            reasons[outcome]?.map(([reason, count]) => (
              <dd key={reason} className={classes['reason']}>
                {formatted(count)} · {reason}
              </dd>
            ))}
        </div>
      ))}
    </dl>
  )
}

function named<Name extends string>(labels: Record<Name, string>, counts: Record<Name, number>): [string, number][] {
  return (Object.keys(labels) as Name[]).flatMap((name): [string, number][] =>
    counts[name] > 0 ? [[labels[name], counts[name]]] : [],
  )
}

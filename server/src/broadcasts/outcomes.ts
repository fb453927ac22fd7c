/** The outcomes of a broadcast's recipients as the database stores them, and as operators see them. */
import {
  type RecipientOutcome,
  recipientOutcomeLabels,
  type RefusalReason,
  refusalReasonLabels,
  type SkipReason,
  skipReasonLabels,
} from '@arcade/contract/broadcasts/fields'
import type { Ending } from './state.ts'

/** Numbers of `broadcast_recipients.outcome`. A released number never changes its meaning. */
export const OUTCOMES = {
  pending: 0,
  /** Written before the call to Telegram: if the server dies, nobody knows whether the message was sent. */
  sending: 1,
  sent: 2,
  unknown: 3,
  held: 4,
  failed: 5,
  refusedBlocked: 10,
  refusedDeactivated: 11,
  refusedNotFound: 12,
  skippedBlocked: 20,
  skippedErased: 21,
  skippedOptedOut: 22,
  skippedUnreachable: 23,
  skippedCap: 24,
  /** Ending a broadcast writes these two into the counts of chunks only: the rows of their recipients stay pending. */
  skippedEnded: 25,
  skippedCancelled: 26,
} as const
export type OutcomeCode = (typeof OUTCOMES)[keyof typeof OUTCOMES]

export const REFUSED: Readonly<Record<RefusalReason, OutcomeCode>> = {
  blocked: OUTCOMES.refusedBlocked,
  deactivated: OUTCOMES.refusedDeactivated,
  notFound: OUTCOMES.refusedNotFound,
}
export const SKIPPED: Readonly<Record<SkipReason, OutcomeCode>> = {
  blocked: OUTCOMES.skippedBlocked,
  erased: OUTCOMES.skippedErased,
  optedOut: OUTCOMES.skippedOptedOut,
  unreachable: OUTCOMES.skippedUnreachable,
  cap: OUTCOMES.skippedCap,
  ended: OUTCOMES.skippedEnded,
  cancelled: OUTCOMES.skippedCancelled,
}

/** Outcomes of messages that a player has or may have; in the last seven days they count towards the cap. */
export const COUNTED_OUTCOMES: readonly OutcomeCode[] = [OUTCOMES.sending, OUTCOMES.sent, OUTCOMES.unknown]
export const WEEK_AGO_SQL = `now() - interval '7 days'`

/** Numbers of recipients by the number of their outcome, as `counts` of broadcasts and chunks have them in JSON. */
export type Counts = Partial<Record<string, number>>

export interface Figures extends Record<RecipientOutcome, number> {
  total: number
  refusedFor: Record<RefusalReason, number>
  skippedFor: Record<SkipReason, number>
}

/** @param ending how the broadcast ended, if it did */
export function figuresOf(counts: Counts, ending: Ending | undefined): Figures {
  const countOf = (code: OutcomeCode): number => counts[code] ?? 0
  const ofReasons = <Reason extends string>(reasons: Readonly<Record<Reason, OutcomeCode>>): Record<Reason, number> =>
    Object.fromEntries(Object.entries<OutcomeCode>(reasons).map(([reason, code]) => [reason, countOf(code)])) as Record<
      Reason,
      number
    >
  const waiting = countOf(OUTCOMES.pending)
  const refusedFor = ofReasons(REFUSED)
  const skippedFor = ofReasons(SKIPPED)
  if (ending) skippedFor[ending] += waiting
  return {
    total: sum(Object.values(counts) as number[]),
    pending: countOf(OUTCOMES.sending) + (ending ? 0 : waiting),
    sent: countOf(OUTCOMES.sent),
    refused: sum(Object.values(refusedFor)),
    failed: countOf(OUTCOMES.failed),
    unknown: countOf(OUTCOMES.unknown),
    skipped: sum(Object.values(skippedFor)),
    held: countOf(OUTCOMES.held),
    refusedFor,
    skippedFor,
  }
}

/** Returns what messages cost in Stars, without the errors of binary fractions: 3 at 0.1 cost 0.3. */
export function costOf(messages: number, starsEach: number): number {
  return Number((messages * starsEach).toPrecision(15))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}

/** The outcome of a recipient in words. `reason` is a sentence for refused and skipped recipients. */
export function outcomeInWords(code: number, ending?: Ending): { outcome: RecipientOutcome; reason: string | null } {
  if (code === OUTCOMES.pending && ending) return { outcome: 'skipped', reason: skipReasonLabels[ending] }
  const refusal = reasonOf(REFUSED, code)
  if (refusal) return { outcome: 'refused', reason: refusalReasonLabels[refusal] }
  const skip = reasonOf(SKIPPED, code)
  if (skip) return { outcome: 'skipped', reason: skipReasonLabels[skip] }
  const names = Object.keys(recipientOutcomeLabels) as RecipientOutcome[]
  const outcome = names.find((name) => name in OUTCOMES && OUTCOMES[name as keyof typeof OUTCOMES] === code)
  return { outcome: outcome ?? 'pending', reason: null }
}

function reasonOf<Reason extends string>(reasons: Readonly<Record<Reason, OutcomeCode>>, code: number): Reason | undefined {
  return (Object.keys(reasons) as Reason[]).find((reason) => reasons[reason] === code)
}

/** Returns the numbers that an outcome of the API has in the database. */
export function codesOf(outcome: RecipientOutcome): OutcomeCode[] {
  return Object.values(OUTCOMES).filter((code) => outcomeInWords(code).outcome === outcome)
}

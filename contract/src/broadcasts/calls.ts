/** Broadcasts, for admins: planning, sending and following them. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { cursorField, idField, pageField, pageFields } from '#src/field-schemas.ts'
import { momentInput } from '#src/items/availability.ts'
import { playersFilter } from '#src/players/calls.ts'
import {
  type BroadcastState,
  broadcastStateLabels,
  MAX_HOLD_BACK_PERCENT,
  type RecipientOutcome,
  recipientOutcomeLabels,
  type RefusalReason,
  refusalReasonLabels,
  type SkipReason,
  skipReasonLabels,
  type WaitReason,
  waitReasonLabels,
} from './fields.ts'
import { broadcastReport } from './report.ts'

const moment = z.iso.datetime()
const MOMENT_RULE = 'Give a date and a time'
const HOLD_BACK_RULE = `Hold back 1 to ${MAX_HOLD_BACK_PERCENT} percent, or nobody`
const holdBackField = z.int(HOLD_BACK_RULE).min(0, HOLD_BACK_RULE).max(MAX_HOLD_BACK_PERCENT, HOLD_BACK_RULE)
const STARS_RULE = 'Give a number of Stars above 0'
const starsField = z.number(STARS_RULE).positive(STARS_RULE).max(1_000_000_000)

/** Paid sending: the price of a message that the operator confirmed, and the most Stars that the broadcast may cost. */
const paidField = z
  .strictObject({ starsEach: starsField, most: starsField })
  .refine(({ starsEach, most }) => most >= starsEach, { path: ['most'], message: 'This is less than one message costs' })

const recipients = { filter: playersFilter.optional(), holdBack: holdBackField.optional() }

/** Without `sendAt`, sending begins at once. */
const times = {
  sendAt: momentInput('Begins', MOMENT_RULE).optional(),
  /** When sending ends: players whose turn has not come by then are skipped. */
  endsAt: momentInput('Ends', MOMENT_RULE).optional(),
}

const endsAfterItBegins: [
  (times: { sendAt?: string | undefined; endsAt?: string | undefined }) => boolean,
  Parameters<z.ZodObject['refine']>[1],
] = [
  ({ sendAt, endsAt }) => !sendAt || !endsAt || Date.parse(endsAt) > Date.parse(sendAt),
  { path: ['endsAt'], message: 'It must end after it begins' },
]

/** The form for a new broadcast. Without `filter` it goes to all players, without `sendAt` at once. */
export const broadcastInput = z
  .strictObject({
    announcementId: idField,
    ...recipients,
    ...times,
    paid: paidField.optional(),
  })
  .refine(...endsAfterItBegins)
export type BroadcastInput = z.infer<typeof broadcastInput>

/** When a scheduled broadcast begins and ends. */
export const broadcastTimes = z.strictObject(times).refine(...endsAfterItBegins)
export type BroadcastTimes = z.infer<typeof broadcastTimes>

function countsOf<Name extends string>(labels: Readonly<Record<Name, string>>) {
  return z.object(Object.fromEntries(Object.keys(labels).map((name) => [name, z.int()])) as unknown as Record<Name, z.ZodNumber>)
}

/** A broadcast. The numbers of its recipients add up to `total`; while recipients are being chosen, `total` grows. */
export const broadcast = z.object({
  id: idField,
  announcementId: z.string(),
  title: z.string(),
  state: z.enum(Object.keys(broadcastStateLabels) as BroadcastState[]),
  /** False while the recipients are being chosen. */
  isPlanned: z.boolean(),
  filter: playersFilter,
  /** The caller may not see all of the filter, because it tells something about personal fields of players. */
  isFilterWithheld: z.literal(true).optional(),
  holdBack: z.int(),
  paid: paidField.optional(),
  madeBy: z.string().nullable(),
  madeAt: moment,
  /** Without it, sending began at once. */
  sendAt: moment.optional(),
  startedAt: moment.optional(),
  doneAt: moment.optional(),
  total: z.int(),
  pending: z.int(),
  sent: z.int(),
  refused: z.int(),
  failed: z.int(),
  unknown: z.int(),
  skipped: z.int(),
  held: z.int(),
  refusedFor: countsOf<RefusalReason>(refusalReasonLabels),
  skippedFor: countsOf<SkipReason>(skipReasonLabels),
  /** Only in the state `waiting`. */
  waitingUntil: moment.optional(),
  waitingFor: z.enum(Object.keys(waitReasonLabels) as WaitReason[]).optional(),
  /** When sending ends at the latest, as the operator asked. */
  endsAt: moment.optional(),
  /** When sending is expected to be done; only while it sends or waits. */
  expectedAt: moment.optional(),
  /** Messages sent in the last minute. */
  perMinute: z.int(),
  /** How many of 1,000 players to whom a message was sent have blocked the bot. */
  blocksPerThousand: z.number(),
  /** What paid sending has cost so far. */
  starsSpent: z.number().optional(),
  /** Why the console paused or cancelled the broadcast by itself. */
  problem: z.string().optional(),
})
export type Broadcast = z.infer<typeof broadcast>

export const broadcastRecipient = z.object({
  userId: z.int(),
  /** The player's name, `@username` or id. */
  name: z.string(),
  outcome: z.enum(Object.keys(recipientOutcomeLabels) as RecipientOutcome[]),
  reason: z.string().nullable(),
  at: moment.nullable(),
})
export type BroadcastRecipient = z.infer<typeof broadcastRecipient>

export const broadcastPlan = z.object({
  /** Players who would get the message, without those who are held back. */
  recipients: z.int(),
  /** Whether the numbers are estimates, because more than 10,000 players match. */
  isApproximate: z.boolean(),
  held: z.int(),
  /** Players who match the filter but would be skipped; absent if the numbers are estimates. */
  skipped: z.int().optional(),
  /** How long sending takes without interruption. */
  minutes: z.int(),
  /** The smallest difference that the control group can show, as a share of players; absent without a control group. */
  smallestDifference: z.number().optional(),
})
export type BroadcastPlan = z.infer<typeof broadcastPlan>

const done = z.object({ success: z.literal(true) })
const tags = ['Broadcasts']
const ofOne = z.strictObject({ id: idField })

export const broadcasts = {
  list: call(['admin'], { needs: 'broadcasts.read' })
    .route({ method: 'GET', path: '/api/broadcasts', tags, summary: 'Broadcasts, newest first, 50 a page' })
    .input(z.strictObject({ page: pageField }))
    .output(z.object({ broadcasts: z.array(broadcast), ...pageFields })),
  get: call(['admin'], { needs: 'broadcasts.read' })
    .route({
      method: 'GET',
      path: '/api/broadcasts/{id}',
      tags,
      summary: 'A broadcast and the outcomes of its recipients so far',
    })
    .input(ofOne)
    .output(broadcast),
  plan: call(['admin'], { needs: 'broadcasts.write', onFullDisk: 'allowed' })
    .route({
      method: 'POST',
      path: '/api/broadcasts/plan',
      tags,
      summary: 'How many players a broadcast would reach, and how long it would take; nothing is sent',
    })
    .input(z.strictObject(recipients))
    .output(broadcastPlan),
  create: call(['admin'], { needs: 'broadcasts.write', stepUp: true, heedsIdempotencyKey: true })
    .route({
      method: 'POST',
      path: '/api/broadcasts',
      tags,
      summary: 'Send an announcement to players through Telegram, at once or later',
    })
    .input(broadcastInput)
    .output(done.extend({ id: idField })),
  reschedule: call(['admin'], { needs: 'broadcasts.write', stepUp: true, onFullDisk: 'small' })
    .route({
      method: 'PUT',
      path: '/api/broadcasts/{id}/times',
      tags,
      summary: 'Change when a broadcast begins and ends, as long as it has not begun',
    })
    .input(broadcastTimes.safeExtend({ id: idField }))
    .output(done),
  pause: call(['admin'], { needs: 'broadcasts.write', onFullDisk: 'small' })
    .route({ method: 'POST', path: '/api/broadcasts/{id}/pause', tags, summary: 'Pause a broadcast' })
    .input(ofOne)
    .output(done),
  resume: call(['admin'], { needs: 'broadcasts.write', stepUp: true })
    .route({ method: 'POST', path: '/api/broadcasts/{id}/resume', tags, summary: 'Continue a paused broadcast' })
    .input(ofOne)
    .output(done),
  cancel: call(['admin'], { needs: 'broadcasts.write', onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/broadcasts/{id}/cancel',
      tags,
      summary: 'Cancel a broadcast; players whose turn has not come are skipped',
    })
    .input(ofOne)
    .output(done),
  resendUnknown: call(['admin'], { needs: 'broadcasts.write', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/broadcasts/{id}/resend-unknown',
      tags,
      summary: 'Send the message again to the players whose outcome is unknown: some of them may get it twice',
    })
    .input(ofOne)
    .output(done.extend({ affected: z.int() })),
  test: call(['admin'], { needs: 'broadcasts.write' })
    .route({
      method: 'POST',
      path: '/api/broadcasts/{id}/test',
      tags,
      summary: 'Send the message of a broadcast to the caller’s own linked Telegram account',
    })
    .input(ofOne)
    .output(done),
  testAnnouncement: call(['admin'], { needs: 'broadcasts.write' })
    .route({
      method: 'POST',
      path: '/api/broadcasts/test',
      tags,
      summary: 'Send the message of an announcement to the caller’s own linked Telegram account',
    })
    .input(z.strictObject({ announcementId: idField }))
    .output(done),
  report: call(['admin'], { needs: 'broadcasts.read', mayBeSecondOld: true })
    .route({
      method: 'GET',
      path: '/api/broadcasts/{id}/report',
      tags,
      summary: 'What a broadcast has brought: players reached, seen and claimed, by hour, the cost, and the control group',
    })
    .input(ofOne)
    .output(broadcastReport),
  recipients: call(['admin'], { needs: 'broadcasts.read' })
    .route({
      method: 'GET',
      path: '/api/broadcasts/{id}/recipients',
      tags,
      summary: 'Recipients with one outcome, 50 a page',
    })
    .input(
      z.strictObject({
        id: idField,
        outcome: z.enum(Object.keys(recipientOutcomeLabels) as RecipientOutcome[]),
        after: cursorField.optional(),
      }),
    )
    .output(z.object({ recipients: z.array(broadcastRecipient), after: z.string().nullable() })),
}

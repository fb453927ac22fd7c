/** The inputs of items that say when, for whom and how often they can be claimed, and their rules. */
import { z } from 'zod'
import { MAX_NUMBER } from '#src/entity.ts'
import { bulkRun } from '#src/bulk.ts'
import { amountOf, idField } from '#src/field-schemas.ts'
import { DATES_END_MS, MAX_SHIFT_DAYS } from './fields.ts'

/** The largest number of participants; more than Telegram has users. */
export const MAX_PARTICIPANTS = 2_000_000_000
/** The first moment that a date may have. The years of dates are limited so that a mistyped year is told. */
const FIRST_MS = Date.UTC(2000, 0)

/** @param message the error for a text that is not a moment */
export function momentInput(label: string, message = `${label} must be a time with its offset, such as 2026-05-01T18:00:00Z`) {
  return z.iso.datetime({ offset: true, error: message }).refine((text) => {
    const milliseconds = Date.parse(text)
    return milliseconds >= FIRST_MS && milliseconds < DATES_END_MS
  }, `${label} must be in the years 2000 to 2099`)
}

const PARTICIPANTS_RULE = `Most Participants must be a whole number from 1 to ${MAX_PARTICIPANTS}`
const BUDGET_RULE = `Daily Budget must be above 0 and at most ${MAX_NUMBER}`

/** When an item is created, a missing value means none. When it is changed, a missing value keeps the present one, and null clears it. */
export const availabilityInput = {
  startsAt: momentInput('Starts At').nullable().optional(),
  endsAt: momentInput('Ends At').nullable().optional(),
  maxParticipants: z
    .int(PARTICIPANTS_RULE)
    .min(1, PARTICIPANTS_RULE)
    .max(MAX_PARTICIPANTS, PARTICIPANTS_RULE)
    .nullable()
    .optional(),
  dailyBudget: amountOf('Daily Budget', z.number(BUDGET_RULE).positive(BUDGET_RULE).max(MAX_NUMBER, BUDGET_RULE))
    .nullable()
    .optional(),
  /** A shared view of the list of players. */
  segmentId: idField.nullable().optional(),
}

/** Whether an operator has paused a task. Missing: a new task is not, and a changed one stays as it is. */
export const pausedInput = z.boolean('Paused must be true or false').optional()

/** The values that the rules of dates and limits compare. */
export interface Availability {
  startsAt?: string | null | undefined
  endsAt?: string | null | undefined
  dailyBudget?: number | null | undefined
  reward: number
}

interface Rule {
  field: 'endsAt' | 'dailyBudget'
  message: string
  holds: (values: Availability) => boolean
}

export const endsAfterStart: Rule = {
  field: 'endsAt',
  message: 'Ends At must be after Starts At',
  holds: ({ startsAt, endsAt }) =>
    typeof startsAt !== 'string' || typeof endsAt !== 'string' || !(Date.parse(endsAt) <= Date.parse(startsAt)),
}

/** A day's budget pays at least one reward. */
export const budgetPaysReward: Rule = {
  field: 'dailyBudget',
  message: 'Daily Budget must be at least the reward',
  holds: ({ dailyBudget, reward }) => typeof dailyBudget !== 'number' || typeof reward !== 'number' || dailyBudget >= reward,
}

type Refinement = [
  (values: Availability) => boolean,
  { path: string[]; message: string; when: (payload: { value: unknown }) => boolean },
]

/** Returns the arguments for `refine`. A rule is checked even while other fields are invalid, so that the form shows all errors at once. */
export function asRefinement({ field, message, holds }: Rule): Refinement {
  return [holds, { path: [field], message, when: ({ value }) => typeof value === 'object' && value !== null }]
}

const DAY_MINUTES = 24 * 60

const zoneField = z
  .string()
  .regex(/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/, 'There is no such time zone')
  .max(64)
  .refine(isZone, 'There is no such time zone')

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * Returns the input of a call that moves the dates of items that are still to come. `days` are days of `zone`, so that 18:00 stays 18:00
 * when the clocks change; `minutes` are added to that.
 */
export function shiftInput<Target extends z.ZodType>(target: Target) {
  return z
    .strictObject({
      target,
      days: z.int().min(-MAX_SHIFT_DAYS).max(MAX_SHIFT_DAYS).default(0),
      minutes: z
        .int()
        .min(-MAX_SHIFT_DAYS * DAY_MINUTES)
        .max(MAX_SHIFT_DAYS * DAY_MINUTES)
        .default(0),
      zone: zoneField.default('UTC'),
      ...bulkRun,
    })
    .refine(({ days, minutes }) => days !== 0 || minutes !== 0, { path: ['days'], message: 'Say by how many days or minutes' })
}

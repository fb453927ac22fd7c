/** What a broadcast has brought: the schema of its report. */
import { z } from 'zod'

const moment = z.iso.datetime()
const count = z.int().min(0)
/** How many players of a group had not claimed the announcement before the broadcast began, and how many of them have claimed it since. */
const group = z.object({ players: count, claimed: count })

export const broadcastReport = z.object({
  /** Players to whom the message was sent. */
  reached: count,
  /** How many of them were shown the announcement in the game at any time, or claimed it after the message. */
  seen: count,
  /** How many of them claimed it after the message. */
  claimed: count,
  /** The points that their claims paid, without reversed ones. */
  cost: z.number(),
  /** From the hour of the first message on, without gaps, at most `REPORT_HOURS`; empty before it. Each begins `at`, a full hour in UTC. */
  hours: z.array(z.object({ at: moment, sent: count, claimed: count })),
  /**
   * The players who were to get the message, also those whom it did not reach, against the control group: only so do the two differ by
   * chance alone. Null without a control group.
   */
  control: z
    .object({
      messaged: group,
      held: group,
      /** The share of claims among the messaged minus that among the held back, and the ends of its 95 % interval (Newcombe); from -1 to 1. */
      difference: z.number(),
      low: z.number(),
      high: z.number(),
      /** The smallest difference that these groups can show, at the control group's share; null if none. */
      smallestDifference: z.number().nullable(),
    })
    .nullable(),
})
export type BroadcastReport = z.infer<typeof broadcastReport>

/** The hours that a report lists at most: two weeks. Later claims count, but are in no hour. */
export const REPORT_HOURS = 14 * 24

/** Telegram's failures on demand: which calls of the bot fail, how, and for how long. */

export type Params = Record<string, unknown>

/**
 * 429 has a `retry_after`; 403 means that the player blocked the bot, `deactivated` and `notFound` that there is no such account or chat;
 * `hang` does nothing and never answers; `drop` does what it was asked for and closes the connection without an answer.
 */
export const faultKinds = ['429', '403', 'deactivated', 'notFound', '500', 'hang', 'drop'] as const
export type FaultKind = (typeof faultKinds)[number]

/** Calls that fail. Without `times` and `seconds` they fail until the next faults are set. */
export interface Fault {
  kind: FaultKind
  /** How many of the next calls fail. */
  times?: number
  /** For how long calls fail, from now. `retry_after` of a 429 is then the time that is left. */
  seconds?: number
  /** Applies to this method only; by default to all methods except getUpdates. */
  method?: string
  /** Applies only to chats whose id is a multiple of this number: 10 is a tenth of the chats. */
  chatOf?: number
  /** Applies only to each call whose number is a multiple of this one. */
  callOf?: number
}

/** A fault that was set, with what is left of it. */
export interface Misbehaviour extends Fault {
  /** When it ends, in milliseconds of `performance.now()`. */
  until: number
  calls: number
}

/** `isLost`: the connection is closed instead of an answer. */
export interface Answer {
  status: number
  body: object
  isLost?: true
}

const RETRY_AFTER_SECONDS = 1

export function createFaults() {
  let faults: Misbehaviour[] = []
  return {
    /** Sets the faults of the next calls: each call has the first fault that applies to it. */
    set(next: Fault[]): void {
      const now = performance.now()
      faults = next.map((fault) => ({ ...fault, calls: 0, until: now + (fault.seconds ?? Number.POSITIVE_INFINITY) * 1000 }))
    },

    /** Returns the fault of a call, if it has one, and counts it. */
    of(method: string, { chat_id: chatId }: Params): Misbehaviour | undefined {
      const now = performance.now()
      for (const fault of faults) {
        if (fault.times === 0 || fault.until < now) continue
        if (fault.method ? fault.method !== method : method === 'getUpdates') continue
        if (fault.chatOf !== undefined && Number(chatId) % fault.chatOf !== 0) continue
        fault.calls += 1
        if (fault.callOf !== undefined && fault.calls % fault.callOf !== 0) continue
        if (fault.times !== undefined) fault.times -= 1
        return fault
      }
      return undefined
    },
  }
}

export function refusal(status: number, description: string, parameters?: object): Answer {
  return { status, body: { ok: false, error_code: status, description, ...(parameters && { parameters }) } }
}

export function tooManyRequests({ seconds, until }: Misbehaviour): Answer {
  const left = seconds === undefined ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil((until - performance.now()) / 1000))
  return refusal(429, `Too Many Requests: retry after ${left}`, { retry_after: left })
}

export const faultAnswers: Record<Exclude<FaultKind, '429' | 'drop'>, Answer> = {
  '403': refusal(403, 'Forbidden: bot was blocked by the user'),
  deactivated: refusal(403, 'Forbidden: user is deactivated'),
  notFound: refusal(400, 'Bad Request: chat not found'),
  '500': refusal(500, 'Internal Server Error'),
  hang: refusal(504, 'Gateway Timeout'),
}

/**
 * A queue for counts of long lists: a limited number runs at the same time, the others wait in the order in which they came. Clients that
 * ask for the same count while it waits share it. A running count may be older than what a client has saved (ADR 11), so the client waits
 * for the next one.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { untilClientLeaves } from '#src/calls.ts'

interface CountQueueOptions {
  /** The most counts that run at the same time. */
  atOnce: number
  /** The most different counts that may wait; further ones are refused at once. */
  mayWait: number
  /** Milliseconds after which a waiting count is refused. */
  waitMs: number
  /** Makes the error of a refused count. */
  refusal: () => Error
}

interface Question<T> {
  /** Questions with equal keys ask for the same count. */
  key: string
  /** Aborted when the client has gone. */
  signal: AbortSignal
  /** Counts. The signal is aborted when no client waits for the answer any more. */
  count: (signal: AbortSignal) => Promise<T>
}

interface Entry<T> {
  askers: number
  nobodyWaits: AbortController
  start: () => void
  /** Resolves when the count starts. The promise of the result is wrapped in an object, because `await` would wait for it, too. */
  begun: Promise<{ counted: Promise<T> }>
}

/** Returns a function that counts. @throws Failure TOO_SLOW when the client has gone, and the error that `refusal` makes */
export function countQueue<T>({ atOnce, mayWait, waitMs, refusal }: CountQueueOptions): (question: Question<T>) => Promise<T> {
  /** The waiting counts, in the order in which they came. */
  const waiting = new Map<string, Entry<T>>()
  const running = new Set<string>()

  function mayRun(key: string): boolean {
    return running.size < atOnce && !running.has(key)
  }

  function startNext(): void {
    for (const [key, entry] of waiting) {
      if (!mayRun(key)) continue
      waiting.delete(key)
      running.add(key)
      entry.start()
    }
  }

  function enqueue({ key, count }: Question<T>): Entry<T> {
    const nobodyWaits = new AbortController()
    const { promise: begun, resolve } = Promise.withResolvers<{ counted: Promise<T> }>()
    // The end of another count starts this one, but it must run in the context of the call that asked for it.
    const start = AsyncLocalStorage.bind(() => {
      const counted = count(nobodyWaits.signal).finally(() => {
        running.delete(key)
        startNext()
      })
      counted.catch(() => {}) // waiting clients get the error; there may be none left
      resolve({ counted })
    })
    const entry = { askers: 0, nobodyWaits, start, begun }
    waiting.set(key, entry)
    return entry
  }

  return async (question) => {
    const { key, signal } = question
    const isFull = !waiting.has(key) && !mayRun(key) && waiting.size >= mayWait
    if (isFull) throw refusal()
    const entry = waiting.get(key) ?? enqueue(question)
    entry.askers += 1
    startNext()
    const tooLate = Promise.withResolvers<never>()
    const timer = setTimeout(() => tooLate.reject(refusal()), waitMs)
    try {
      const { counted } = await untilClientLeaves(Promise.race([entry.begun, tooLate.promise]), signal)
      clearTimeout(timer)
      return await untilClientLeaves(counted, signal)
    } finally {
      clearTimeout(timer)
      entry.askers -= 1
      if (entry.askers === 0) {
        if (waiting.get(key) === entry) waiting.delete(key)
        entry.nobodyWaits.abort()
      }
    }
  }
}

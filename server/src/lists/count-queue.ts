/**
 * Counts of long lists: only so many run at once, the others wait for a while in the order in which they came. Those who ask for the same
 * while it waits share it; one that runs already may be older than what they have saved (ADR 0011), so they wait for the next.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { unlessGone } from '#src/calls.ts'

interface CountQueueOptions {
  /** So many run at once. */
  atOnce: number
  /** So many different ones may wait; whoever comes then is refused at once. */
  mayWait: number
  /** Whoever has waited so long for the begin is refused. */
  waitMs: number
  /** What they are told. */
  refusal: () => Error
}

interface Question<T> {
  /** Equal for those who ask for the same. */
  key: string
  /** Aborted when the client has gone. */
  signal: AbortSignal
  /** Its signal is aborted when nobody waits for the answer any more. */
  count: (signal: AbortSignal) => Promise<T>
}

interface Entry<T> {
  askers: number
  nobodyWaits: AbortController
  start: () => void
  /** In an object, because a promise of a promise is none. */
  begun: Promise<{ counted: Promise<T> }>
}

/** @throws Failure TOO_SLOW when the client has gone, and what `refusal` makes */
export function countQueue<T>({ atOnce, mayWait, waitMs, refusal }: CountQueueOptions): (question: Question<T>) => Promise<T> {
  /** In the order in which they came. */
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
    // It is started by whoever ends, and reads as whoever asked.
    const start = AsyncLocalStorage.bind(() => {
      const counted = count(nobodyWaits.signal).finally(() => {
        running.delete(key)
        startNext()
      })
      counted.catch(() => {}) // those who wait for it are told; perhaps nobody does any more
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
      const { counted } = await unlessGone(Promise.race([entry.begun, tooLate.promise]), signal)
      clearTimeout(timer)
      return await unlessGone(counted, signal)
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

/**
 * Shares reads among callers: while a read runs, all further callers wait for the next one, which begins when it ends. The result always
 * comes from a read that began after the call, so every caller sees what was saved before it (ADR 11).
 */

/** Returns a read that simultaneous callers with the same key share. */
export function sharedReads<T>(read: (parameters: unknown[]) => Promise<T>): (parameters: unknown[]) => Promise<T> {
  const runningReads = new Map<string, { answer: Promise<T>; next: Promise<T> | undefined }>()

  function start(key: string, parameters: unknown[]): Promise<T> {
    const running = { answer: read(parameters), next: undefined }
    const forget = () => {
      if (runningReads.get(key) === running) runningReads.delete(key)
    }
    runningReads.set(key, running)
    running.answer.then(forget, forget)
    return running.answer
  }

  return (parameters) => {
    const key = JSON.stringify(parameters)
    const running = runningReads.get(key)
    if (!running) return start(key, parameters)
    const startNext = () => start(key, parameters)
    running.next ??= running.answer.then(startNext, startNext)
    return running.next
  }
}

/**
 * Returns a read that answers simultaneous callers with different keys by one statement.
 * @param read returns the results in the order of the keys
 */
export function batchedReads<Asked, Found>(
  read: (asked: Asked[]) => Promise<readonly Found[]>,
): (asked: Asked) => Promise<Found> {
  let last: Promise<unknown> = Promise.resolve()
  let next: { asked: Asked[]; found: Promise<readonly Found[]> } | undefined

  function gather(): NonNullable<typeof next> {
    const asked: Asked[] = []
    const found = last.then(() => {
      next = undefined
      return read(asked)
    })
    last = found.catch(() => undefined)
    return { asked, found }
  }

  return async (one) => {
    next ??= gather()
    const { asked, found } = next
    const index = asked.push(one) - 1
    return (await found)[index]!
  }
}

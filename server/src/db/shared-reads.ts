/**
 * Reads that several callers share: while one runs, all further callers wait for the next, which begins when it ends. Each gets what a read
 * found that began after they asked, so everybody sees what was saved before (ADR 0011).
 */

/** Shared by those who ask for the same at once. */
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
 * One statement for all who ask at once, each for something else.
 * @param read gives what it found for each, by its place
 */
export function gatheredReads<Asked, Found>(
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
    const place = asked.push(one) - 1
    return (await found)[place]!
  }
}

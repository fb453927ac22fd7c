/**
 * Reads that are shared by those who ask for the same at once: while one runs, all further callers wait for the next, which begins when it
 * ends. Each gets what a read found that began after they asked, so everybody sees what was saved before (ADR 0011).
 */
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

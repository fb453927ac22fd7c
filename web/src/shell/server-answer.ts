/** Detects when an unreachable server answers again. */
import { useEffect, useEffectEvent } from 'react'
import { CallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'

const ASK_AGAIN_MS = 3000

/** Statuses of an unreachable server: no answer (0), not ready or busy, or a proxy that cannot reach it. */
const OUT_OF_REACH = new Set([0, 502, 503, 504])

export function isOutOfReach(error: unknown): boolean {
  return error instanceof CallError && OUT_OF_REACH.has(error.status)
}

/**
 * Calls `onAnswer` once the server answers. Checks when the browser comes online and, with `isAskedFor`, every 3 s while the page is
 * visible.
 */
export function useServerAnswer(onAnswer: () => void, isAskedFor = true): void {
  const handleAnswer = useEffectEvent(onAnswer)

  useEffect(() => {
    let isAsking = false
    const ask = async (): Promise<void> => {
      if (isAsking || document.hidden) return
      isAsking = true
      await client.auth.session().then(handleAnswer, () => {}) // the page still shows the error
      isAsking = false
    }
    const handleTurn = () => void ask()
    const timer = isAskedFor ? setInterval(handleTurn, ASK_AGAIN_MS) : undefined
    window.addEventListener('online', handleTurn)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', handleTurn)
    }
  }, [isAskedFor])
}

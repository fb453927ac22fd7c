/** Waits for a server that is out of reach. */
import { useEffect, useEffectEvent } from 'react'
import { CallError, client } from '#src/client.ts'

const ASK_AGAIN_MS = 3000

/** No answer, a server that says it is busy or not ready, or a proxy that says so of it. */
const OUT_OF_REACH = new Set([0, 502, 503, 504])

export function isOutOfReach(error: unknown): boolean {
  return error instanceof CallError && OUT_OF_REACH.has(error.status)
}

/**
 * Asks whether the server answers, when the browser is online again and, with `isAskedFor`, again and again while somebody may see the
 * page.
 */
export function useServerAnswer(onAnswer: () => void, isAskedFor = true): void {
  const handleAnswer = useEffectEvent(onAnswer)

  useEffect(() => {
    let isAsking = false
    const ask = async (): Promise<void> => {
      if (isAsking || document.hidden) return
      isAsking = true
      await client.auth.session().then(handleAnswer, () => {}) // the page still says so
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

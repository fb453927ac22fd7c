/** The screens before the session is known (§2): loading, and that the server cannot be reached. */
import { useEffect, useEffectEvent } from 'react'
import { client } from '#src/client.ts'
import { Problem } from '#src/ui/page.tsx'
import classes from './loading-screen.module.css'

/** The same markup as in index.html, which shows it before React has started. */
export function LoadingScreen() {
  return (
    <main className="app-loading">
      <h1 className="app-sr-only">Arcade Console</h1>
      <output aria-label="Loading">
        <svg className="app-spinner" viewBox="0 0 200 200" width="200" height="200" aria-hidden>
          <circle cx="100" cy="100" r="88" fill="none" stroke="#2fedbf" strokeOpacity="0.16" strokeWidth="10" />
          <path d="M100 12a88 88 0 0 1 88 88" fill="none" stroke="#2fedbf" strokeWidth="10" strokeLinecap="round" />
        </svg>
      </output>
    </main>
  )
}

const ASK_AGAIN_MS = 3000

/** Asks again by itself, while somebody may see it and when the browser is online again, and says the same until there is an answer. */
export function UnreachableScreen({ onRetry }: { onRetry: () => void }) {
  const handleAnswer = useEffectEvent(onRetry)

  useEffect(() => {
    let isAsking = false
    const ask = async (): Promise<void> => {
      if (isAsking || document.hidden) return
      isAsking = true
      await client.auth.session().then(handleAnswer, () => {})
      isAsking = false
    }
    const handleTurn = () => void ask()
    const timer = setInterval(handleTurn, ASK_AGAIN_MS)
    window.addEventListener('online', handleTurn)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', handleTurn)
    }
  }, [])

  return (
    <main className="app-loading">
      <div className={classes['card']}>
        <h1>Arcade Console cannot be reached</h1>
        <Problem message="The server does not answer. Your session is not lost." onRetry={onRetry} />
      </div>
    </main>
  )
}

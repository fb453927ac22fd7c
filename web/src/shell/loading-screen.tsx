/** The screens before the session is known (§2): loading, and the server cannot be reached. */
import { Problem } from '#src/ui/page.tsx'
import { useServerAnswer } from './server-answer.ts'
import classes from './loading-screen.module.css'

/** The same markup as in index.html, which shows it before React starts. */
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

/** Retries by itself, and shows the same text until the server answers. */
export function UnreachableScreen({ onRetry }: { onRetry: () => void }) {
  useServerAnswer(onRetry)
  return (
    <main className="app-loading">
      <div className={classes['card']}>
        <h1>Arcade Console cannot be reached</h1>
        <Problem message="The server does not answer. Your session is not lost." onRetry={onRetry} />
      </div>
    </main>
  )
}

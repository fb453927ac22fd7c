/** Stands in place of a page that failed to load or to render. It tries again by itself when the browser is online again. */
import { useEffect } from 'react'
import { CallError, client } from '#src/client.ts'
import { Problem } from '#src/ui/page.tsx'

export function PageProblem({ error }: { error: unknown }) {
  useEffect(() => {
    window.addEventListener('online', handleRetry)
    return () => window.removeEventListener('online', handleRetry)
  }, [])
  const reason = error instanceof CallError ? ` ${error.message}` : ''
  return <Problem message={`This page could not be shown.${reason}`} onRetry={handleRetry} />
}

/** Loads the document anew, once the server can be reached: a style sheet that has failed is not asked for again by the same document. */
function handleRetry(): void {
  client.auth.session().then(
    () => location.reload(),
    () => {}, // the page still says so
  )
}

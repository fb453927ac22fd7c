/** Stands in place of a page that failed to load or to render. It tries again by itself once a server that was out of reach answers. */
import { CallError, reloadPage } from '#src/client.ts'
import { Problem } from '#src/ui/page.tsx'
import { isOutOfReach, useServerAnswer } from './server-answer.ts'

export function PageProblem({ error }: { error: unknown }) {
  useServerAnswer(() => location.reload(), isOutOfReach(error)) // a page that fails by itself would be loaded for ever
  const reason = error instanceof CallError ? ` ${error.message}` : ''
  return <Problem message={`This page could not be shown.${reason}`} onRetry={reloadPage} />
}

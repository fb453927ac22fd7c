/** Shown instead of a page that failed to load or render. If the server was unreachable, it reloads the page once the server answers. */
import { CallError } from '#src/client/call-error.ts'
import { reloadPage } from '#src/client/client.ts'
import { Problem } from '#src/ui/page.tsx'
import { isOutOfReach, useServerAnswer } from './server-answer.ts'

export function PageProblem({ error }: { error: unknown }) {
  useServerAnswer(() => location.reload(), isOutOfReach(error)) // a page that fails for another reason would reload for ever
  const reason = error instanceof CallError ? ` ${error.message}` : ''
  return <Problem message={`This page could not be shown.${reason}`} onRetry={reloadPage} />
}

/** Stands in place of a page that failed to load or to render. It tries again by itself once a server that was out of reach answers. */
import { CallError, client } from '#src/client.ts'
import { Problem } from '#src/ui/page.tsx'
import { isOutOfReach, useServerAnswer } from './server-answer.ts'

export function PageProblem({ error }: { error: unknown }) {
  useServerAnswer(loadAnew, isOutOfReach(error)) // a page that fails by itself would be loaded for ever
  const reason = error instanceof CallError ? ` ${error.message}` : ''
  return <Problem message={`This page could not be shown.${reason}`} onRetry={handleRetry} />
}

function handleRetry(): void {
  client.auth.session().then(loadAnew, () => {}) // the page still says so
}

/** The whole document, because one that failed to load a style sheet does not ask for it again. */
function loadAnew(): void {
  location.reload()
}

/** Stands in place of a page that failed to load or to render. */
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Problem } from '#src/ui/page.tsx'

export function PageProblem({ reset }: ErrorComponentProps) {
  const router = useRouter()
  const handleRetry = () => {
    reset()
    void router.invalidate()
  }
  return <Problem message="This page could not be shown." onRetry={handleRetry} />
}

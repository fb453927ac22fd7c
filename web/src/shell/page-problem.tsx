/** Stands in place of a page that failed to load or to render. It tries again by itself when the browser is online again. */
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { Problem } from '#src/ui/page.tsx'

export function PageProblem({ reset }: ErrorComponentProps) {
  const router = useRouter()
  const handleRetry = () => {
    reset()
    void router.invalidate()
  }
  const retry = useEffectEvent(handleRetry)
  useEffect(() => {
    const handleOnline = () => retry()
    window.addEventListener('online', handleOnline)
    return () => window.removeEventListener('online', handleOnline)
  }, [])
  return <Problem message="This page could not be shown." onRetry={handleRetry} />
}

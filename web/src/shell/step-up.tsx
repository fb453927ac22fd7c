/**
 * Asks for the second factor again when a call needs a fresh proof (STEP_UP_NEEDED). The client waits meanwhile, and then sends the call
 * again. All calls that are refused at the same time share one question.
 */
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { lazy, Suspense, useEffect, useState } from 'react'
import { onStepUp } from '#src/client/client.ts'

const StepUpDialog = lazy(() => import('./step-up-dialog.tsx').then((module) => ({ default: module.StepUpDialog })))

interface Asked {
  methods: readonly SecondFactorMethod[]
  result: PromiseWithResolvers<boolean>
}

export function StepUpGuard() {
  const [asked, setAsked] = useState<Asked>()

  useEffect(() => {
    let open: Asked | undefined
    onStepUp((methods) => {
      if (open) return open.result.promise
      const next = { methods, result: Promise.withResolvers<boolean>() }
      open = next
      setAsked(next)
      return next.result.promise.finally(() => {
        open = undefined
        setAsked(undefined)
      })
    })
    return () => {
      open?.result.resolve(false)
      onStepUp(async () => false)
    }
  }, [])

  return (
    <Suspense fallback={null}>
      {asked && <StepUpDialog methods={asked.methods} onAnswer={(isProved) => asked.result.resolve(isProved)} />}
    </Suspense>
  )
}

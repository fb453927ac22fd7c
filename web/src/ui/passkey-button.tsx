/** Buttons that prove who it is: by a passkey, instead of a password or as the second factor, or by the sign-in service. */
import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Refusal } from './form.tsx'
import classes from './passkey-button.module.css'

interface ProofButtonProps {
  /** Lets the person prove it, and returns the refusal, if any. */
  onUse: () => Promise<Refusal | void>
  children: ReactNode
}

/** Its name shares no word with `Sign In` (§2), so that each button is found by its own. */
export function PasskeyButton({ onUse }: Pick<ProofButtonProps, 'onUse'>) {
  return <ProofButton onUse={onUse}>Use a Passkey</ProofButton>
}

export function ProofButton({ onUse, children }: ProofButtonProps) {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const handleClick = async () => {
    setIsBusy(true)
    setProblem(undefined)
    setProblem((await onUse())?.message)
    setIsBusy(false)
  }
  return (
    <div className={classes['passkey']}>
      <Button type="button" variant="default" size="md" fullWidth loading={isBusy} onClick={() => void handleClick()}>
        {children}
      </Button>
      <p className={classes['problem']} aria-live="polite">
        {problem}
      </p>
    </div>
  )
}

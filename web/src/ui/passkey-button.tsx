/** The button that proves by a passkey who it is: instead of a password, or as the second factor. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Refusal } from './form.tsx'
import classes from './passkey-button.module.css'

interface PasskeyButtonProps {
  /** Lets the person use a passkey, and returns the refusal, if any. */
  onUse: () => Promise<Refusal | void>
}

/** Its name shares no word with `Sign In` (§2), so that each button is found by its own. */
export function PasskeyButton({ onUse }: PasskeyButtonProps) {
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
        Use a Passkey
      </Button>
      <p className={classes['problem']} aria-live="polite">
        {problem}
      </p>
    </div>
  )
}

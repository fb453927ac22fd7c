/**
 * A secret that is shown once, to be copied. It takes the focus, because the button that created it may be far below. Pass the secret as
 * `key`.
 */
import { TextInput } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { CopyButton } from './copy-button.tsx'
import classes from './shown-once.module.css'

export function ShownOnce({ label, text }: { label: string; text: string }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <div className={classes['secret']}>
      <TextInput
        ref={field}
        label={label}
        value={text}
        readOnly
        onFocus={(event) => event.currentTarget.select()}
        rightSection={<CopyButton label={label} text={text} />}
      />
      <p>It is not shown again: copy it into the bot’s configuration now.</p>
    </div>
  )
}

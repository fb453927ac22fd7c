/** Secrets that are shown once, to be copied, until their page is left. */
import { TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import classes from './shown-once.module.css'

/** A secret that was just made. */
export interface Secret {
  /** The id of what it belongs to. */
  id: string
  label: string
  text: string
}

/** Returns the shown secrets. A new one replaces only that with its id. */
export function useShownSecrets() {
  const [secrets, setSecrets] = useState<readonly Secret[]>([])
  const without = (id: string) => (shown: readonly Secret[]) => shown.filter((secret) => secret.id !== id)
  return {
    secrets,
    show: (secret: Secret) => setSecrets((shown) => [...without(secret.id)(shown), secret]),
    forget: (id: string) => setSecrets(without(id)),
  }
}

export function ShownSecrets({ secrets }: { secrets: readonly Secret[] }) {
  return (
    <div aria-live="polite">
      {secrets.map(({ label, text }) => (
        <ShownOnce key={text} label={label} text={text} />
      ))}
    </div>
  )
}

/** Takes the focus, because the button that made the secret may be far below. */
function ShownOnce({ label, text }: Omit<Secret, 'id'>) {
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

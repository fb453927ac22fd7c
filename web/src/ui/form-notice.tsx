/** Says at a form why it was not saved, and what can be done. After a stale save the typed text stays, and a button loads the new version. */
import { Button } from '@mantine/core'
import classes from './form-notice.module.css'
import type { Refusal } from './form.tsx'

interface FormNoticeProps {
  /** Without a message nothing is shown. */
  message: string | undefined
  /** What can be done about it. */
  action?: { label: string; onClick: () => void } | undefined
}

export function FormNotice({ message, action }: FormNoticeProps) {
  return (
    <div aria-live="polite">
      {message !== undefined && (
        <div className={classes['notice']}>
          <p>{message}</p>
          {action && (
            <Button variant="default" size="compact-md" onClick={action.onClick}>
              {action.label}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

interface FormRefusalProps {
  form: { refusal: Refusal | undefined; keepAsDraft?: () => void }
  /** Loads the version that somebody else has saved meanwhile. */
  onReload?: (() => void) | undefined
}

/** What the server refused a form for, unless that stands at a field. */
export function FormRefusal({ form: { refusal, keepAsDraft }, onReload }: FormRefusalProps) {
  const isStale = refusal?.code === 'STALE' && onReload !== undefined
  const handleReload = () => {
    keepAsDraft?.()
    onReload?.()
  }
  return (
    <FormNotice
      message={refusal?.message}
      action={isStale ? { label: 'Load the new version', onClick: handleReload } : undefined}
    />
  )
}

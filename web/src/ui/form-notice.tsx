/** The notice in a form that was not saved, with its reason. After a stale save the input stays, and a button loads the new version. */
import { Button } from '@mantine/core'
import classes from './form-notice.module.css'
import type { Refusal } from './form.tsx'

interface FormNoticeProps {
  /** Undefined shows nothing. */
  message: string | undefined
  /** A button in the notice. */
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
  /** Loads the version that somebody else saved. */
  onReload?: (() => void) | undefined
}

/** Shows why the server refused the form, unless the error is shown at a field. */
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

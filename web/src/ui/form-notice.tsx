/** Says at a form why it was not saved, and what can be done. After a stale save the typed text stays, and a button loads the new version. */
import { Button } from '@mantine/core'
import classes from './form-notice.module.css'

interface FormNoticeProps {
  /** Without a message nothing is shown. */
  message: string | undefined
  /** Loads the new version; only a stale save has one. */
  onReload?: (() => void) | undefined
  /** What else can be done about it. */
  action?: { label: string; onClick: () => void } | undefined
}

export function FormNotice({ message, onReload, action }: FormNoticeProps) {
  const button = action ?? (onReload && { label: 'Load the new version', onClick: onReload })
  return (
    <div aria-live="polite">
      {message !== undefined && (
        <div className={classes['notice']}>
          <p>{message}</p>
          {button && (
            <Button variant="default" size="compact-md" onClick={button.onClick}>
              {button.label}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

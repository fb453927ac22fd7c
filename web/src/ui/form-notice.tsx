/** Says beside a form's buttons why it was not saved. After a stale save the typed text stays, and a button loads the new version. */
import { Button } from '@mantine/core'
import classes from './form-notice.module.css'

interface FormNoticeProps {
  /** The server's message; without one nothing is shown. */
  message: string | undefined
  /** Loads the new version; only a stale save has one. */
  onReload?: (() => void) | undefined
}

export function FormNotice({ message, onReload }: FormNoticeProps) {
  return (
    <div aria-live="polite">
      {message !== undefined && (
        <div className={classes['notice']}>
          <p>{message}</p>
          {onReload && (
            <Button variant="default" size="compact-md" onClick={onReload}>
              Load the new version
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

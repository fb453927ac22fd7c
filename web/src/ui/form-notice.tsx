/** Why a form was not saved, beside its buttons. Of a save that came too late the text is kept, and the new version is a click away. */
import { Button } from '@mantine/core'
import classes from './form-notice.module.css'

interface FormNoticeProps {
  /** What the server said; nothing is shown without it. */
  message: string | undefined
  /** Set for a stale save. */
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

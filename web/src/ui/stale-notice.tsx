/** Beside a form whose save came too late: the operator's text is still there, and the new version is a click away. */
import { Button } from '@mantine/core'
import classes from './stale-notice.module.css'

interface StaleNoticeProps {
  /** What the server said; nothing is shown without it. */
  message: string | undefined
  onReload: () => void
}

export function StaleNotice({ message, onReload }: StaleNoticeProps) {
  return (
    <div aria-live="polite">
      {message !== undefined && (
        <div className={classes['notice']}>
          <p>{message}</p>
          <Button variant="default" size="compact-md" onClick={onReload}>
            Load the new version
          </Button>
        </div>
      )}
    </div>
  )
}

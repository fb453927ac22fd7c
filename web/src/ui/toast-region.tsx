/** Mantine's notifications as the specification wants them (§9). toast.tsx loads this file when a toast may soon be needed. */
import { Button } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import classes from './toast-region.module.css'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10
/** Toasts stand below the top right corner, because a page has its buttons there. */
const BELOW_PAGE_ACTIONS = '4.5rem'

export interface ToastAction {
  label: string
  onClick: () => void
}

export function ToastRegion() {
  return (
    <Notifications
      position="top-right"
      autoClose={TOAST_AUTO_CLOSE_MS}
      limit={TOASTS_AT_ONCE}
      containerWidth={360}
      styles={{ root: { marginTop: BELOW_PAGE_ACTIONS } }}
      aria-live="polite"
    />
  )
}

/** A toast with an `action` has a button for it, and stays twice as long so that one can reach the button. */
export function showToast(message: string, color: string, action?: ToastAction): void {
  const id = notifications.show({
    message: action ? <WithAction message={message} action={action} onDone={() => notifications.hide(id)} /> : message,
    ...(action && { autoClose: 2 * TOAST_AUTO_CLOSE_MS }),
    color,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}

function WithAction({ message, action, onDone }: { message: string; action: ToastAction; onDone: () => void }) {
  const handleClick = () => {
    onDone()
    action.onClick()
  }
  return (
    <span className={classes['withAction']}>
      {message}
      <Button variant="default" size="compact-sm" onClick={handleClick}>
        {action.label}
      </Button>
    </span>
  )
}

/** Mantine's notifications as the spec wants them (§9). Apart from toast.tsx, which loads it when it may be needed. */
import { Notifications, notifications } from '@mantine/notifications'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10
/** A page's buttons are at its top right, too: a toast must not lie over the one that is wanted next. */
const BELOW_PAGE_ACTIONS = '4.5rem'

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

export function showToast(message: string, color: string): void {
  notifications.show({ message, color, role: 'alert', closeButtonProps: { 'aria-label': 'Dismiss' } })
}

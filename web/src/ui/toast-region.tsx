/** Mantine's notifications as the spec wants them (§9). Apart from toast.tsx, which loads it when it may be needed. */
import { Notifications, notifications } from '@mantine/notifications'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10

export function ToastRegion() {
  return (
    <Notifications
      position="top-right"
      autoClose={TOAST_AUTO_CLOSE_MS}
      limit={TOASTS_AT_ONCE}
      containerWidth={360}
      aria-live="polite"
    />
  )
}

export function showToast(message: string, color: string): void {
  notifications.show({ message, color, role: 'alert', closeButtonProps: { 'aria-label': 'Dismiss' } })
}

/** Toasts (§8, §9): top right, gone after five seconds, each an alert in a live region. */
import { notifications, type NotificationsProps } from '@mantine/notifications'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10

/** For the one <Notifications> of the app. */
export const toastRegion: NotificationsProps = {
  position: 'top-right',
  autoClose: TOAST_AUTO_CLOSE_MS,
  limit: TOASTS_AT_ONCE,
  containerWidth: 360,
  'aria-live': 'polite',
}

interface ToastOptions {
  /** §4: some toasts come one or two seconds late. */
  delayMs?: number
}

export const toast = {
  success: (message: string, options?: ToastOptions) => show(message, 'arcade', options),
  failure: (message: string, options?: ToastOptions) => show(message, 'red', options),
}

function show(message: string, color: string, { delayMs = 0 }: ToastOptions = {}): void {
  const add = () => notifications.show({ message, color, role: 'alert', closeButtonProps: { 'aria-label': 'Dismiss' } })
  if (delayMs > 0) setTimeout(add, delayMs)
  else add()
}

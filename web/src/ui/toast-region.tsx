/** Mantine's notifications, configured as specified (§9). toast.tsx loads this file when a toast may soon be needed. */
import { Button, Portal } from '@mantine/core'
import { Notifications, notifications, notificationsStore, useNotifications } from '@mantine/notifications'
import { type MouseEvent, useRef, useState } from 'react'
import { focusRows, focusAddedRow } from './table-rows.ts'
import { useFreeLane } from './toast-lane.ts'
import classes from './toast-region.module.css'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10
/** Above dialogs, but below popovers: an open menu must not be covered. */
const Z_INDEX = 250 // between Mantine's `modal` and `popover`
export interface ToastAction {
  label: string
  onClick: () => void
  /** Aborted when the button is no longer offered: it goes, and the message stays its usual time. */
  withdrawn?: AbortSignal
}

/** The lane of the toasts: the newest one, and a button that counts the older ones and lists them. */
export function ToastRegion() {
  const { notifications: shown, queue } = useNotifications()
  const [lane, setLane] = useState<HTMLElement | null>(null)
  const [isOpen, setIsOpen] = useState(false)
  const older = shown.length + queue.length - 1
  if (isOpen && older < 1) setIsOpen(false)
  useFreeLane(lane, shown)
  return (
    <Portal>
      <div ref={setLane} className={classes['lane']} style={{ zIndex: Z_INDEX }} data-open={isOpen || undefined}>
        {older > 0 && (
          <button type="button" className={classes['more']} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            +{older}
            <span className={classes['moreText']}> more</span>
            <span className="app-sr-only"> {older === 1 ? 'message' : 'messages'}</span>
          </button>
        )}
        <Notifications
          withinPortal={false}
          position="top-right"
          autoClose={TOAST_AUTO_CLOSE_MS}
          limit={TOASTS_AT_ONCE}
          classNames={{ root: classes['region'] ?? '', notification: classes['toast'] ?? '' }}
          aria-live="polite"
        />
      </div>
    </Portal>
  )
}

/** Shows a toast, which stays while it has the focus. With an `action` it has a button and stays twice as long. */
export function showToast(message: string, color: string, { action, detail }: { action?: ToastAction; detail?: string }): void {
  const reason = detail !== undefined && withoutMark(detail) !== withoutMark(message) ? detail : undefined
  const contentWith = (offered: ToastAction | undefined) => {
    const content = <FullMessage message={message} reason={reason} action={offered} onDone={() => notifications.hide(id)} />
    const autoClose = offered ? 2 * TOAST_AUTO_CLOSE_MS : TOAST_AUTO_CLOSE_MS
    return {
      message: content,
      autoClose,
      // Mantine keeps a hovered toast open, but not a focused one.
      onFocusCapture: () => notifications.update({ id, message: content, autoClose: false }),
      onBlurCapture: () => notifications.update({ id, message: content, autoClose }),
    }
  }
  const id = notifications.show({
    ...contentWith(action?.withdrawn?.aborted ? undefined : action),
    color,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
  const withdraw = () => notifications.update({ id, ...contentWith(undefined) })
  action?.withdrawn?.addEventListener('abort', withdraw, { once: true })
}

export function hideToasts(color: string): void {
  const { notifications: shown, queue } = notificationsStore.getState()
  for (const { id, color: own } of [...shown, ...queue]) if (id !== undefined && own === color) notifications.hide(id)
}

/** §8 has the same texts with and without an exclamation mark. */
function withoutMark(text: string): string {
  return text.replace(/[.!]$/, '')
}

interface FullMessageProps {
  message: string
  reason: string | undefined
  action: ToastAction | undefined
  onDone: () => void
}

function FullMessage({ message, reason, action, onDone }: FullMessageProps) {
  const isDone = useRef(false) // the button can still be pressed while the toast fades out
  const focusedBefore = useRef<EventTarget>(null)
  const handleClick = ({ currentTarget, detail }: MouseEvent) => {
    if (isDone.current) return
    isDone.current = true
    // The button disappears with its toast, so restore the focus. After a mouse click, do not scroll the list.
    if (currentTarget === document.activeElement) {
      const before = focusedBefore.current
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: detail > 0 })
      else focusRows({ preventScroll: detail > 0 })
      focusAddedRow()
    }
    onDone()
    action?.onClick()
  }
  return (
    <span className={classes['fullMessage']}>
      <span className={classes['text']}>
        <span>{message}</span>
        {reason && <span className={classes['reason']}> {reason}</span>}
      </span>
      {action && (
        <Button
          variant="default"
          size="compact-sm"
          onFocus={({ relatedTarget }) => (focusedBefore.current = relatedTarget)}
          onClick={handleClick}
          data-toast-action
          aria-keyshortcuts="u"
          rightSection={
            <kbd aria-hidden className={classes['key']}>
              u
            </kbd>
          }
        >
          {action.label}
        </Button>
      )}
    </span>
  )
}

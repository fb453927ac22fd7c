/** Mantine's notifications as the specification wants them (§9). toast.tsx loads this file when a toast may soon be needed. */
import { Button } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import { useEffect } from 'react'
import classes from './toast-region.module.css'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10
export interface ToastAction {
  label: string
  onClick: () => void
}

export function ToastRegion() {
  useYieldingToasts()
  return (
    <Notifications
      position="top-right"
      autoClose={TOAST_AUTO_CLOSE_MS}
      limit={TOASTS_AT_ONCE}
      containerWidth={360}
      classNames={{ root: classes['region'] ?? '', notification: classes['toast'] ?? '' }}
      aria-live="polite"
    />
  )
}

/** A toast with an `action` has a button for it, and stays twice as long so that one can reach the button. */
export function showToast(message: string, color: string, action?: ToastAction): void {
  const id = notifications.show({
    onClick: () => notifications.hide(id), // by a finger; a mouse clicks what lies below
    message: action ? <WithAction message={message} action={action} onDone={() => notifications.hide(id)} /> : message,
    ...(action && { autoClose: 2 * TOAST_AUTO_CLOSE_MS }),
    color,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}

/**
 * A toast must not cover what one needs next. A mouse clicks through it, and it turns nearly transparent while the mouse or the focus is
 * at something below it; only its own buttons take the mouse.
 */
function useYieldingToasts(): void {
  useEffect(() => {
    const stop = new AbortController()
    const yieldTo = (place: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>, target: EventTarget | null) => {
      for (const toast of document.querySelectorAll(`.${classes['toast']}`)) {
        const { left, right, top, bottom } = toast.getBoundingClientRect()
        const isOver = place.left < right && place.right > left && place.top < bottom && place.bottom > top
        toast.toggleAttribute('data-yields', isOver && !(target instanceof Node && toast.contains(target)))
      }
    }
    const handlePointer = ({ clientX: x, clientY: y, pointerType, target }: PointerEvent) => {
      if (pointerType === 'mouse') yieldTo({ left: x, right: x, top: y, bottom: y }, target)
    }
    const handleFocus = ({ target }: FocusEvent) => {
      if (target instanceof Element) yieldTo(target.getBoundingClientRect(), target)
    }
    window.addEventListener('pointermove', handlePointer, { signal: stop.signal, passive: true })
    window.addEventListener('focusin', handleFocus, { signal: stop.signal })
    return () => stop.abort()
  }, [])
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

/** Mantine's notifications as the specification wants them (§9). toast.tsx loads this file when a toast may soon be needed. */
import { Button } from '@mantine/core'
import { Notifications, notifications, notificationsStore, useNotifications } from '@mantine/notifications'
import { type MouseEvent, useLayoutEffect, useRef, useState } from 'react'
import { focusRows, focusRowThatComes } from './table-rows.ts'
import classes from './toast-region.module.css'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10
/** Above dialogs, below what a button opens: a menu that is open is what one needs next. */
const Z_INDEX = 250 // between Mantine's `modal` and `popover`
/** On a low screen toasts are not further down than this share of it. */
const LOWEST_PLACE = 0.4
export interface ToastAction {
  label: string
  onClick: () => void
}

export function ToastRegion() {
  const below = useYieldingToasts()
  return (
    <Notifications
      style={below === undefined ? {} : { '--toasts-below': `${Math.round(below)}px` }}
      position="top-right"
      zIndex={Z_INDEX}
      autoClose={TOAST_AUTO_CLOSE_MS}
      limit={TOASTS_AT_ONCE}
      containerWidth={360}
      classNames={{ root: classes['region'] ?? '', notification: classes['toast'] ?? '' }}
      aria-live="polite"
    />
  )
}

/** A toast with an `action` has a button for it, and stays twice as long, and while its button has the focus, so that one can reach it. */
export function showToast(message: string, color: string, { action, detail }: { action?: ToastAction; detail?: string }): void {
  const reason = detail !== undefined && withoutMark(detail) !== withoutMark(message) ? detail : undefined
  const content =
    action || reason ? (
      <FullMessage message={message} reason={reason} action={action} onDone={() => notifications.hide(id)} />
    ) : (
      message
    )
  const id = notifications.show({
    message: content,
    ...(action && {
      autoClose: 2 * TOAST_AUTO_CLOSE_MS,
      // The pointer keeps a toast by itself, the focus does not.
      onFocusCapture: () => notifications.update({ id, message: content, autoClose: false }),
      onBlurCapture: () => notifications.update({ id, message: content, autoClose: 2 * TOAST_AUTO_CLOSE_MS }),
    }),
    color,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}

export function hideToasts(color: string): void {
  const { notifications: shown, queue } = notificationsStore.getState()
  for (const { id, color: own } of [...shown, ...queue]) if (id !== undefined && own === color) notifications.hide(id)
}

/** In pixels, where there is a head and the toolbar of a list, whose buttons are what one needs next: toasts stand below them. */
function bottomOfHead(): number | undefined {
  const bottoms = [...document.querySelectorAll('[data-page-head]')].map((head) => head.getBoundingClientRect().bottom)
  if (bottoms.length === 0) return undefined
  const lowest = innerHeight * LOWEST_PLACE
  // A toolbar further down is not in their way.
  return Math.min(lowest, Math.max(bottoms[0]!, ...bottoms.filter((one) => one < lowest)))
}

/**
 * A toast must not cover what one needs next. A click or a touch goes through it, and it turns nearly transparent while the mouse or the
 * focus is at something below it, or a finger has touched there; only its own buttons take either.
 * @returns from where on there is room for toasts, in pixels, as soon as there is one
 */
function useYieldingToasts(): number | undefined {
  const { notifications: shown } = useNotifications()
  const [below, setBelow] = useState<number>()

  useLayoutEffect(() => {
    if (shown.length === 0) return undefined // a page without toasts is not laid out for them
    const stop = new AbortController()
    // A toast whose button is being pressed has the focus, and stays under the pointer.
    const place = () => {
      if (!document.activeElement?.closest(`.${classes['toast']}`)) setBelow(bottomOfHead())
    }
    const yieldTo = (at: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>, target: EventTarget | null) => {
      for (const toast of document.querySelectorAll(`.${classes['toast']}`)) {
        const { left, right, top, bottom } = toast.getBoundingClientRect()
        const isOver = at.left < right && at.right > left && at.top < bottom && at.bottom > top
        toast.toggleAttribute('data-yields', isOver && !(target instanceof Node && toast.contains(target)))
      }
    }
    const handlePointer = ({ clientX: x, clientY: y, pointerType, target, type }: PointerEvent) => {
      if (pointerType === 'mouse' || type === 'pointerdown') yieldTo({ left: x, right: x, top: y, bottom: y }, target)
    }
    const handleFocus = ({ target }: FocusEvent) => {
      place() // the heading of another page gets the focus
      if (target instanceof Element) yieldTo(target.getBoundingClientRect(), target)
    }
    place()
    for (const type of ['pointermove', 'pointerdown'] as const)
      window.addEventListener(type, handlePointer, { signal: stop.signal, passive: true })
    window.addEventListener('focusin', handleFocus, { signal: stop.signal })
    for (const type of ['scroll', 'resize']) window.addEventListener(type, place, { signal: stop.signal, passive: true })
    return () => stop.abort()
  }, [shown])

  return below
}

/** §8 has the same text with and without an exclamation mark. */
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
  const isDone = useRef(false) // a toast that fades out can still be pressed
  const cameFrom = useRef<EventTarget>(null)
  const handleClick = ({ currentTarget, detail }: MouseEvent) => {
    if (isDone.current) return
    isDone.current = true
    // The button goes with the toast. A mouse must not scroll the list that it is in.
    if (currentTarget === document.activeElement) {
      const before = cameFrom.current
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: detail > 0 })
      else focusRows({ preventScroll: detail > 0 })
      focusRowThatComes()
    }
    onDone()
    action?.onClick()
  }
  return (
    <span className={classes['fullMessage']}>
      <span>{message}</span>
      {reason && <span className={classes['reason']}>{reason}</span>}
      {action && (
        <Button
          variant="default"
          size="compact-sm"
          onFocus={({ relatedTarget }) => (cameFrom.current = relatedTarget)}
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

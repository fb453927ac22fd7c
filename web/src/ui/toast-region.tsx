/** Mantine's notifications, configured as specified (§9). toast.tsx loads this file when a toast may soon be needed. */
import { Button } from '@mantine/core'
import { Notifications, notifications, notificationsStore, useNotifications } from '@mantine/notifications'
import { type MouseEvent, useLayoutEffect, useRef, useState } from 'react'
import { focusRows, focusAddedRow } from './table-rows.ts'
import classes from './toast-region.module.css'

const TOAST_AUTO_CLOSE_MS = 5000 // §9
const TOASTS_AT_ONCE = 10
/** Above dialogs, but below popovers: an open menu must not be covered. */
const Z_INDEX = 250 // between Mantine's `modal` and `popover`
/** Toasts start at the latest at this share of the window's height, so that they stay visible on low screens. */
const LOWEST_PLACE = 0.4
export interface ToastAction {
  label: string
  onClick: () => void
  /** Aborted when the button is no longer offered: it goes, and the message stays its usual time. */
  withdrawn?: AbortSignal
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

/** Shows a toast. With an `action` it has a button, stays twice as long, and stays while the button has the focus. */
export function showToast(message: string, color: string, { action, detail }: { action?: ToastAction; detail?: string }): void {
  const reason = detail !== undefined && withoutMark(detail) !== withoutMark(message) ? detail : undefined
  const textWith = (offered: ToastAction | undefined) =>
    offered || reason ? (
      <FullMessage message={message} reason={reason} action={offered} onDone={() => notifications.hide(id)} />
    ) : (
      message
    )
  if (action?.withdrawn?.aborted) return showToast(message, color, { ...(detail !== undefined && { detail }) })
  const content = textWith(action)
  const id = notifications.show({
    message: content,
    ...(action && {
      autoClose: 2 * TOAST_AUTO_CLOSE_MS,
      // Mantine keeps a hovered toast open, but not a focused one.
      onFocusCapture: () => notifications.update({ id, message: content, autoClose: false }),
      onBlurCapture: () => notifications.update({ id, message: content, autoClose: 2 * TOAST_AUTO_CLOSE_MS }),
    }),
    color,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
  const withdraw = () =>
    notifications.update({
      id,
      message: textWith(undefined),
      autoClose: TOAST_AUTO_CLOSE_MS,
      onFocusCapture: undefined,
      onBlurCapture: undefined,
    })
  action?.withdrawn?.addEventListener('abort', withdraw, { once: true })
}

export function hideToasts(color: string): void {
  const { notifications: shown, queue } = notificationsStore.getState()
  for (const { id, color: own } of [...shown, ...queue]) if (id !== undefined && own === color) notifications.hide(id)
}

/**
 * Returns where the page's header and the list's toolbar end, in pixels. Toasts stand below them, so that they do not cover their buttons.
 */
function bottomOfHead(): number | undefined {
  const bottoms = [...document.querySelectorAll('[data-page-head]')].map((head) => head.getBoundingClientRect().bottom)
  if (bottoms.length === 0) return undefined
  const lowest = innerHeight * LOWEST_PLACE
  // Ignore a toolbar further down.
  return Math.min(lowest, Math.max(bottoms[0]!, ...bottoms.filter((one) => one < lowest)))
}

/**
 * Keeps toasts out of the way. Clicks pass through a toast except for its buttons, and it turns nearly transparent while the pointer or the
 * focus is at something below it.
 * @returns where toasts start, in pixels; undefined while there are none
 */
function useYieldingToasts(): number | undefined {
  const { notifications: shown } = useNotifications()
  const [below, setBelow] = useState<number>()

  useLayoutEffect(() => {
    if (shown.length === 0) return undefined // no layout work while there are no toasts
    const stop = new AbortController()
    // Do not move a toast while its button has the focus: it would move away from under the pointer.
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
      place() // a focused heading may mean a new page
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
      <span>{message}</span>
      {reason && <span className={classes['reason']}>{reason}</span>}
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

/**
 * A button that opens a pane: a popover beside the button, on a phone a sheet, and within a sheet a part below the button. The pane is
 * mounted when it is opened for the first time: several on a page would delay its first frame.
 */
import { Button, type ButtonProps, Popover, type PopoverProps } from '@mantine/core'
import {
  type ReactNode,
  type Ref,
  type RefObject,
  use,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { giveFocusBack } from './dialog-layer.ts'
import classes from './pane.module.css'
import { useIsPhone } from './window-width.ts'
import { InSheet, Sheet } from './sheet.tsx'

interface PaneProps extends Pick<PopoverProps, 'position'> {
  isOpen: boolean
  onChange: (isOpen: boolean) => void
  button: ButtonProps & { children: ReactNode; 'aria-label'?: string }
  /** The heading, which also names the pane. */
  title: string
  /** The heading is for assistive technology only. */
  isUntitled?: boolean
  className?: string | undefined
  children: ReactNode
}

export function Pane(props: PaneProps) {
  const { isOpen, onChange, button, title, isUntitled = false } = props
  const id = useId()
  const anchor = useRef<HTMLButtonElement>(null)
  const [isMounted, setIsMounted] = useState(false)
  const isPhone = useIsPhone()
  const isInSheet = use(InSheet)
  const handleClick = () => {
    flushSync(() => setIsMounted(true)) // a popover remembers where to return the focus to only if it is mounted before it is opened
    onChange(!isOpen)
  }
  const content = <Content ref={useReturnedFocus(isOpen, anchor)} {...props} />
  return (
    <>
      <Button
        variant="default"
        {...button}
        ref={anchor}
        aria-haspopup={isInSheet ? undefined : 'dialog'}
        aria-expanded={isOpen}
        aria-controls={isOpen && !isPhone ? `${id}-dropdown` : undefined}
        onClick={handleClick}
      />
      {isInSheet && isOpen && (
        <section aria-label={title} className={classes['part']}>
          {content}
        </section>
      )}
      {isPhone && !isInSheet && isMounted && (
        <Sheet title={title} isOpen={isOpen} onClose={() => onChange(false)}>
          {content}
        </Sheet>
      )}
      {!isPhone && !isInSheet && isMounted && (
        <Popover
          position={props.position ?? 'bottom-start'}
          middlewares={{ flip: true, shift: true, size: { padding: EDGE_PX, apply: tellRoom } }}
          closeOnEscape={false} // Mantine would close it before the handlers of the fields within run
          id={id}
          opened={isOpen}
          onChange={onChange}
          trapFocus
          returnFocus
          shadow="md"
          withinPortal
        >
          <Popover.Target>
            <PopoverAnchor anchor={anchor} />
          </Popover.Target>
          <Popover.Dropdown aria-labelledby={`${id}-title`} onKeyDown={({ key }) => key === 'Escape' && onChange(false)}>
            <h2 id={`${id}-title`} className={isUntitled ? 'app-sr-only' : classes['title']}>
              {title}
            </h2>
            {content}
          </Popover.Dropdown>
        </Popover>
      )}
    </>
  )
}

/**
 * Returns the focus at once: Mantine does so later, when a question asked from the pane may have taken it from what is gone by then.
 * @returns the ref of the pane's content
 */
function useReturnedFocus(isOpen: boolean, anchor: RefObject<HTMLElement | null>) {
  const inside = useRef<HTMLDivElement>(null)
  const wasOpen = useRef(isOpen)
  useLayoutEffect(() => {
    const isClosed = wasOpen.current && !isOpen
    wasOpen.current = isOpen
    if (isClosed) giveFocusBack(inside.current, anchor.current)
  }, [isOpen, anchor])
  return inside
}

function Content({ ref, className = '', children }: Pick<PaneProps, 'className' | 'children'> & { ref: Ref<HTMLDivElement> }) {
  return (
    <div ref={ref} className={`${classes['content']} ${className}`}>
      {children}
    </div>
  )
}

const EDGE_PX = 8 // between a pane and the window's edge

/** Tells the pane's style how high the room for it is. */
function tellRoom({ availableHeight, elements }: { availableHeight: number; elements: { floating: HTMLElement } }): void {
  elements.floating.style.setProperty('--pane-room', `${Math.floor(availableHeight)}px`)
}

/** Stands for the button in the popover, which would otherwise mount the button again when it is opened for the first time. */
function PopoverAnchor({ anchor, ref }: { anchor: RefObject<HTMLButtonElement | null>; ref?: Ref<HTMLButtonElement> }) {
  useImperativeHandle(ref, () => anchor.current!)
  return null
}

/** A button that opens a pane. The pane is mounted when it is opened for the first time: several on a page would delay its first frame. */
import { Button, type ButtonProps, Popover, type PopoverProps } from '@mantine/core'
import { type ReactNode, type Ref, type RefObject, useId, useImperativeHandle, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

interface PaneProps extends Pick<PopoverProps, 'closeOnEscape' | 'position'> {
  isOpen: boolean
  onChange: (isOpen: boolean) => void
  button: ButtonProps & { children: ReactNode; 'aria-label'?: string }
  /** A `Popover.Dropdown`. */
  children: ReactNode
}

export function Pane({ isOpen, onChange, button, children, ...options }: PaneProps) {
  const id = useId()
  const place = useRef<HTMLButtonElement>(null)
  const [isMounted, setIsMounted] = useState(false)
  const handleClick = () => {
    flushSync(() => setIsMounted(true)) // a popover remembers where to return the focus to only if it is mounted before it is opened
    onChange(!isOpen)
  }
  return (
    <>
      <Button
        variant="default"
        {...button}
        ref={place}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-dropdown` : undefined}
        onClick={handleClick}
      />
      {isMounted && (
        <Popover {...options} id={id} opened={isOpen} onChange={onChange} trapFocus returnFocus shadow="md" withinPortal>
          <Popover.Target>
            <Place place={place} />
          </Popover.Target>
          {children}
        </Popover>
      )}
    </>
  )
}

/** Stands for the button in the popover, which would otherwise mount the button again when it is opened for the first time. */
function Place({ place, ref }: { place: RefObject<HTMLButtonElement | null>; ref?: Ref<HTMLButtonElement> }) {
  useImperativeHandle(ref, () => place.current!)
  return null
}

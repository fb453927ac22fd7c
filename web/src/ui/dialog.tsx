/**
 * The frame of every dialog: Mantine's Modal with one size of title, and one order of buttons. Escape, the close button and a click beside
 * the dialog close it. A question is an `alertdialog`, which is closed only by its buttons and Escape.
 */
import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './dialog.module.css'
import { useDialogLayer } from './dialog-layer.ts'

interface DialogProps {
  isOpen: boolean
  title: ReactNode
  /** Without it, only the buttons of the dialog close it. */
  onClose?: () => void
  isQuestion?: boolean
  /** For texts and tables that need more room than a form. */
  isWide?: boolean
  /** Read out by screen readers when the dialog opens, after its title. */
  description?: ReactNode
  children?: ReactNode
}

/** A closed dialog has no elements: those of Mantine's Modal take time, and most dialogs of a page are never opened. */
export function Dialog({ isOpen, ...props }: DialogProps) {
  return isOpen && <OpenDialog {...props} />
}

function OpenDialog({ title, onClose, isQuestion = false, isWide = false, description, children }: Omit<DialogProps, 'isOpen'>) {
  const handleClose = onClose ?? (() => {})
  const layer = useDialogLayer(handleClose)
  const isDismissible = onClose !== undefined && !isQuestion
  return (
    <Modal.Root
      {...layer}
      opened
      onClose={handleClose}
      size={isWide ? 'lg' : 'md'}
      centered
      closeOnEscape={false}
      closeOnClickOutside={isDismissible}
      returnFocus={false}
      lockScroll={false} // it makes the body scroll instead of the window, which breaks sticky elements; see dialog-layer.ts
      classNames={{ content: classes['content'] ?? '' }}
      transitionProps={{ duration: 0 }} // dialog.module.css lets it appear
    >
      <Modal.Overlay className={classes['overlay'] ?? ''} />
      <Modal.Content {...(isQuestion && { ref: markAsQuestion })}>
        {/* Mantine renders a <header>, which assistive technology would take for the page's banner. */}
        <Modal.Header role="presentation" className={classes['header'] ?? ''}>
          <Modal.Title className={classes['title'] ?? ''}>{title}</Modal.Title>
          {isDismissible && <Modal.CloseButton aria-label="Close" />}
        </Modal.Header>
        <div className={classes['body']}>
          {description !== undefined && (
            <Modal.Body p={0} className={classes['description'] ?? ''}>
              {description}
            </Modal.Body>
          )}
          {children}
        </div>
      </Modal.Content>
    </Modal.Root>
  )
}

/** Mantine's Modal always has the role `dialog`. */
function markAsQuestion(content: HTMLElement | null): void {
  content?.setAttribute('role', 'alertdialog')
}

/** The buttons at the end of a dialog: the one that leaves it first, then the one that acts. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={classes['actions']}>{children}</div>
}

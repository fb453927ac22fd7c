/** A sheet that comes up from the bottom of a phone's screen: the place for what a wider window shows in its toolbar or in a pane. */
import { Drawer } from '@mantine/core'
import { createContext, type ReactNode } from 'react'
import classes from './sheet.module.css'

/** Whether the component is in a sheet. */
export const InSheet = createContext(false)

interface SheetProps {
  title: string
  isOpen: boolean
  onClose: () => void
  children: ReactNode
}

export function Sheet({ title, isOpen, onClose, children }: SheetProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      closeOnEscape={false} // Mantine would close it before the handlers of the fields within run
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      position="bottom"
      size="auto"
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ content: classes['content'] ?? '', header: classes['header'] ?? '', title: classes['title'] ?? '' }}
    >
      <InSheet value>{children}</InSheet>
    </Drawer>
  )
}

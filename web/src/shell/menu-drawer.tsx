/** The phone's slide-in menu (§2). shell.tsx preloads this file when the browser is idle. */
import { Drawer } from '@mantine/core'
import { useRef } from 'react'
import { useDialogLayer } from '#src/ui/dialog-layer.ts'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'

export interface MenuDrawerProps {
  isOpen: boolean
  onClose: () => void
}

export function MenuDrawer({ isOpen, onClose }: MenuDrawerProps) {
  const root = useRef<HTMLDivElement>(null)
  const zIndex = useDialogLayer({ isOpen, root, onEscape: onClose })
  return (
    <Drawer
      ref={root}
      opened={isOpen}
      onClose={onClose}
      zIndex={zIndex}
      closeOnEscape={false}
      returnFocus={false}
      size="min(19rem, 88vw)"
      title="Menu"
      classNames={{
        content: classes['drawer'] ?? '',
        header: classes['drawerHeader'] ?? '',
        body: classes['drawerBody'] ?? '',
      }}
    >
      <Navigation onNavigate={onClose} />
    </Drawer>
  )
}

/** The phone's slide-in menu (§2). shell.tsx preloads this file when the browser is idle. */
import { Drawer } from '@mantine/core'
import { useRef } from 'react'
import { useDialogLayer } from '#src/ui/dialog-layer.ts'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'

export interface MenuDrawerProps {
  onClose: () => void
}

export function MenuDrawer({ onClose }: MenuDrawerProps) {
  const root = useRef<HTMLDivElement>(null)
  const zIndex = useDialogLayer({ root, onEscape: onClose })
  return (
    <Drawer
      ref={root}
      opened
      onClose={onClose}
      zIndex={zIndex}
      closeOnEscape={false}
      returnFocus={false}
      transitionProps={{ duration: 0 }} // shell.module.css slides it in
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

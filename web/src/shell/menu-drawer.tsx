/** The phone's slide-in menu (§2). shell.tsx preloads this file when the browser is idle. */
import { Drawer } from '@mantine/core'
import { useDialogLayer } from '#src/ui/dialog-layer.ts'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'

export interface MenuDrawerProps {
  onClose: () => void
}

export function MenuDrawer({ onClose }: MenuDrawerProps) {
  const layer = useDialogLayer(onClose)
  return (
    <Drawer
      {...layer}
      opened
      onClose={onClose}
      closeOnEscape={false}
      returnFocus={false}
      lockScroll={false}
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

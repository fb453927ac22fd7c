/** The View More dialog (§2): a shortened value in full, with Copy and Close. */
import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { copyText } from './copy-button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import classes from './view-more.module.css'

interface Value {
  /** The value's name, usually the column's header. */
  label: string
  text: string
}

/** `open` shows a value and stays the same function between renders. The caller renders `dialog` once. */
export function useViewMore(): { open: (value: Value) => void; dialog: ReactNode } {
  const [value, open] = useState<Value>()
  return {
    open,
    dialog: (
      <Dialog isOpen={value !== undefined} onClose={() => open(undefined)} title="View More" isWide>
        <p className={classes['label']}>{value?.label}</p>
        <p className={classes['text']}>{value?.text}</p>
        <DialogActions>
          <Button data-autofocus onClick={() => void copyText(value?.text ?? '')}>
            Copy
          </Button>
        </DialogActions>
      </Dialog>
    ),
  }
}

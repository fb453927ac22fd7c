/** The full value behind a shortened one (§2 View More): a dialog with a copy button and a close button. */
import { Button, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { toast } from '#src/ui/toast.tsx'
import classes from './view-more.module.css'

interface Value {
  /** What it is, such as the column's header. */
  label: string
  text: string
}

/** `open` shows a value; `dialog` is to be rendered once by the caller. */
export function useViewMore(): { open: (value: Value) => void; dialog: ReactNode } {
  const [value, setValue] = useState<Value>()
  const [isOpen, setIsOpen] = useState(false)
  return {
    open: (next) => {
      setValue(next)
      setIsOpen(true)
    },
    dialog: (
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="View More" size="lg">
        <p className={classes['label']}>{value?.label}</p>
        <p className={classes['text']}>{value?.text}</p>
        <Button fullWidth data-autofocus onClick={() => void copy(value?.text ?? '')}>
          Copy
        </Button>
      </Modal>
    ),
  }
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast.success('Copied!')
  } catch {
    toast.failure('Failed to copy') // refused, or no clipboard on plain http
  }
}

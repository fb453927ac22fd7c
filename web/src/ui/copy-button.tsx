/** A button that copies a value and confirms it with a toast (§8). */
import { ActionIcon } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import { toast } from './toast.tsx'

export function CopyButton({ label, text }: { label: string; text: string }) {
  return (
    <ActionIcon variant="subtle" size="lg" aria-label={`Copy ${label}`} onClick={() => void copyText(text)}>
      <IconCopy size={18} aria-hidden />
    </ActionIcon>
  )
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast.success('Copied!')
  } catch {
    toast.failure('Failed to copy') // the user refused permission, or the page is on plain http and has no clipboard
  }
}

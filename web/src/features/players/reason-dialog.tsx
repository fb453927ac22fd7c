/** A button that asks why, before a player or picked ones are blocked. */
import { blockReasonField } from '@arcade/contract/players'
import { Button, type ButtonProps, Modal, Stack, Textarea } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'

interface ReasonButtonProps extends ButtonProps {
  title: string
  onReason: (reason: string) => void
  children: ReactNode
}

export function ReasonButton({ title, onReason, children, ...props }: ReasonButtonProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string>()

  const handleOpen = () => {
    setReason('')
    setProblem(undefined)
    setIsOpen(true)
  }
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    const checked = blockReasonField.safeParse(reason)
    if (!checked.success) return setProblem(checked.error.issues[0]?.message)
    setIsOpen(false)
    onReason(checked.data)
  }

  return (
    <>
      <Button variant="default" aria-haspopup="dialog" {...props} onClick={handleOpen}>
        {children}
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title={title}>
        <form onSubmit={handleSubmit} noValidate>
          <Stack>
            <Textarea
              label="Reason"
              description="Operators see it, and so does the audit. Players do not."
              value={reason}
              error={problem}
              onChange={({ currentTarget }) => {
                setReason(currentTarget.value)
                setProblem(undefined)
              }}
              rows={3}
              data-autofocus
            />
            <Button type="submit">Continue</Button>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

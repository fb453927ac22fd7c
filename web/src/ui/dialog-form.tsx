/**
 * A form in a dialog (design §8): it opens with the focus in its first field, and ends with Cancel and Confirm. What was typed is not lost by
 * Escape, a click beside it, another page, or the end of the session.
 */
import { Button, Modal } from '@mantine/core'
import { type ComponentProps, createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react'
import { type FieldValues, useFormState } from 'react-hook-form'
import { useConfirm } from './confirm.tsx'
import { FormRefusal } from './form-notice.tsx'
import { Form, FormActions, type Refusal, SubmitButton } from './form.tsx'
import { useUnsaved } from './unsaved.ts'

/** Tells the dialog around a form whether something was typed. */
const TypedContext = createContext<(isTyped: boolean) => void>(() => {})

const question = { title: 'Close without saving?', message: 'What you typed in the dialog is lost then.' }

interface FormDialogProps {
  isOpen: boolean
  title: string
  onClose: () => void
  /** Holds a `DialogForm`. */
  children: ReactNode
}

export function FormDialog({ isOpen, title, onClose, children }: FormDialogProps) {
  const confirm = useConfirm()
  const [isTyped, setIsTyped] = useState(false)
  const typed = useRef(isTyped) // is right at once, also for a key that follows another within the same frame
  const isAsking = useRef(false)
  const focused = useRef<HTMLElement>(undefined)
  useUnsaved(isOpen && isTyped, { isKept: false })

  const handleClose = async () => {
    if (isAsking.current) return // The Escape that answers the question is told to this dialog, too.
    if (typed.current) {
      isAsking.current = true
      await endOfKeyPress()
      const isGivenUp = await confirm(question)
      isAsking.current = false
      if (!isGivenUp) return focused.current?.focus() // a click beside the dialog has taken it away
    }
    onClose()
  }

  const tellTyped = useCallback((is: boolean) => {
    typed.current = is
    setIsTyped(is)
  }, [])

  return (
    <Modal opened={isOpen} onClose={() => void handleClose()} title={title}>
      <div onFocus={({ target }) => (focused.current = target)}>
        <TypedContext value={tellTyped}>{children}</TypedContext>
      </div>
    </Modal>
  )
}

/** The browser gives an Escape to the dialog on top once it was told to the page: the question must not be that one yet. */
function endOfKeyPress(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

type FormProps<Input extends FieldValues, Output> = ComponentProps<typeof Form<Input, Output>>

interface DialogFormProps<Input extends FieldValues, Output> extends FormProps<Input, Output> {
  form: FormProps<Input, Output>['form'] & { refusal: Refusal | undefined }
  onCancel: () => void
  /** What it does is red. */
  isDestructive?: boolean
  children: ReactNode
}

export function DialogForm<Input extends FieldValues, Output>(props: DialogFormProps<Input, Output>) {
  const { onCancel, isDestructive = false, children, ...form } = props
  const { isDirty } = useFormState({ control: form.form.control })
  const tellTyped = use(TypedContext)
  useEffect(() => {
    tellTyped(isDirty)
    return () => tellTyped(false)
  }, [tellTyped, isDirty])
  return (
    <div ref={markFirstField}>
      <Form {...form}>
        {children}
        <FormRefusal form={form.form} />
        <FormActions
          back={
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          }
        >
          <SubmitButton {...(isDestructive && { color: 'red' })}>Confirm</SubmitButton>
        </FormActions>
      </Form>
    </div>
  )
}

/** Else Mantine's dialog gives the focus to the cross that closes it, where Enter loses what one wanted to do. */
function markFirstField(dialog: HTMLElement | null): void {
  dialog?.querySelector('input, textarea')?.setAttribute('data-autofocus', '')
}

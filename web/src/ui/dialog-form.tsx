/**
 * A form in a dialog (design §8): it opens with the focus in its first field, and ends with Cancel and Confirm. Escape, or a click beside it,
 * does not lose what was typed.
 */
import { Button, Modal } from '@mantine/core'
import { type ComponentProps, createContext, type ReactNode, use, useEffect, useRef } from 'react'
import { type FieldValues, useFormState } from 'react-hook-form'
import { useConfirm } from './confirm.tsx'
import { FormRefusal } from './form-notice.tsx'
import { Form, FormActions, type Refusal, SubmitButton } from './form.tsx'

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
  const isTyped = useRef(false)
  const isAsking = useRef(false)

  const handleClose = async () => {
    if (isAsking.current) return // The Escape that answers the question is told to this dialog, too.
    if (isTyped.current) {
      isAsking.current = true
      await endOfKeyPress()
      const isGivenUp = await confirm(question)
      isAsking.current = false
      if (!isGivenUp) return
    }
    onClose()
  }

  return (
    <Modal opened={isOpen} onClose={() => void handleClose()} title={title}>
      <TypedContext value={(typed) => (isTyped.current = typed)}>{children}</TypedContext>
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
  })
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

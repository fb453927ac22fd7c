/**
 * A form in a dialog (design §8), with the focus in its first field, Cancel and Confirm. Escape, a click beside it, a navigation or the end
 * of the session do not lose the input without a question.
 */
import { Button, Modal } from '@mantine/core'
import { type ComponentProps, createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react'
import { type FieldValues, useFormState } from 'react-hook-form'
import { useConfirm } from './confirm.tsx'
import { FormRefusal } from './form-notice.tsx'
import { Form, FormActions, type Refusal, SubmitButton } from './form.tsx'
import { useUnsaved } from './unsaved.ts'

interface FormState {
  /** Whether the form has input. */
  isTyped: boolean
  isSending: boolean
}

/** Reports the state of the form to the surrounding dialog. */
const ReportContext = createContext<(state: FormState) => void>(() => {})

const question = { title: 'Close without saving?', message: 'What you typed in the dialog is lost then.' }

interface FormDialogProps {
  isOpen: boolean
  title: string
  onClose: () => void
  /** Contains a `DialogForm`. */
  children: ReactNode
}

export function FormDialog({ isOpen, title, onClose, children }: FormDialogProps) {
  const confirm = useConfirm()
  const [isTyped, setIsTyped] = useState(false)
  const state = useRef<FormState>({ isTyped, isSending: false }) // a ref, because a second key may follow before the next render
  const isAsking = useRef(false)
  const focused = useRef<HTMLElement>(undefined)
  useUnsaved(isOpen && isTyped, { isKept: false })

  const handleClose = async () => {
    if (isAsking.current) return // this dialog also receives the Escape that answers the question
    // The second press of a double click on Confirm may land beside the dialog, which has become smaller or is closing.
    if (!isOpen || state.current.isSending) return
    if (state.current.isTyped) {
      isAsking.current = true
      await endOfKeyPress()
      const isDiscarded = await confirm(question)
      isAsking.current = false
      if (!isDiscarded) return focused.current?.focus() // the click beside the dialog moved the focus
    }
    onClose()
  }

  const report = useCallback((reported: FormState) => {
    state.current = reported
    setIsTyped(reported.isTyped)
  }, [])

  return (
    <Modal opened={isOpen} onClose={() => void handleClose()} title={title}>
      <div onFocus={({ target }) => (focused.current = target)}>
        <ReportContext value={report}>{children}</ReportContext>
      </div>
    </Modal>
  )
}

/** Waits until the Escape key has been handled: if the confirmation opened earlier, the browser would close it with the same key. */
function endOfKeyPress(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

type FormProps<Input extends FieldValues, Output> = ComponentProps<typeof Form<Input, Output>>

interface DialogFormProps<Input extends FieldValues, Output> extends FormProps<Input, Output> {
  form: FormProps<Input, Output>['form'] & { refusal: Refusal | undefined }
  onCancel: () => void
  /** The form shows an error beside its fields that must be mended first: Confirm is disabled, and Enter sends nothing. */
  isHeld?: boolean
  /** Destructive dialogs have a red confirm button. */
  isDestructive?: boolean
  children: ReactNode
}

export function DialogForm<Input extends FieldValues, Output>(props: DialogFormProps<Input, Output>) {
  const { onCancel, isHeld = false, isDestructive = false, children, ...form } = props
  const { isDirty, isSubmitting } = useFormState({ control: form.form.control })
  const report = use(ReportContext)
  useEffect(() => {
    report({ isTyped: isDirty, isSending: isSubmitting })
    return () => report({ isTyped: false, isSending: false })
  }, [report, isDirty, isSubmitting])
  return (
    <div ref={markFirstField}>
      <Form {...form} onSubmit={async (values) => (isHeld ? undefined : form.onSubmit(values))}>
        {children}
        <FormRefusal form={form.form} />
        <FormActions
          back={
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          }
        >
          <SubmitButton {...(isHeld && { 'aria-disabled': true })} {...(isDestructive && { color: 'red' })}>
            Confirm
          </SubmitButton>
        </FormActions>
      </Form>
    </div>
  )
}

/** Marks the first field for the initial focus. Mantine would focus the close button, where Enter discards the input. */
function markFirstField(dialog: HTMLElement | null): void {
  dialog?.querySelector('input, textarea')?.setAttribute('data-autofocus', '')
}

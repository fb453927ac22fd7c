/**
 * A form in a dialog (design §8), with the focus in its first field, Cancel and a button that says what it does. Escape, a click beside it,
 * a navigation or the end of the session do not lose the input without a question.
 */
import { Button } from '@mantine/core'
import {
  type ComponentProps,
  createContext,
  type FormEvent,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react'
import { type FieldValues, useFormState } from 'react-hook-form'
import { useConfirm } from './confirm.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { FormRefusal } from './form-notice.tsx'
import { Form, type Refusal, SubmitButton } from './form.tsx'
import { useUnsaved } from './unsaved.ts'

interface FormState {
  /** Whether the form has input. */
  isTyped: boolean
  isSending: boolean
}

/** Reports the state of the form to the surrounding dialog. */
const ReportContext = createContext<(state: FormState) => void>(() => {})

const question = { title: 'Close without saving?', message: 'What you typed in the dialog is lost then.', confirmLabel: 'Close' }

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
  useUnsaved(isOpen && isTyped, { isKept: false })

  const handleClose = async () => {
    if (isAsking.current) return
    // The second press of a double click on Confirm may land beside the dialog, which has become smaller or is closing.
    if (!isOpen || state.current.isSending) return
    if (state.current.isTyped) {
      isAsking.current = true
      const isDiscarded = await confirm(question)
      isAsking.current = false
      if (!isDiscarded) return
    }
    onClose()
  }

  const report = useCallback((reported: FormState) => {
    state.current = reported
    setIsTyped(reported.isTyped)
  }, [])

  return (
    <Dialog isOpen={isOpen} onClose={() => void handleClose()} title={title}>
      <ReportContext value={report}>{children}</ReportContext>
    </Dialog>
  )
}

/** Tells the dialog around a form whether the form has input and is being sent. */
function useDialogInput({ isTyped, isSending }: FormState): void {
  const report = use(ReportContext)
  useEffect(() => {
    report({ isTyped, isSending })
    return () => report({ isTyped: false, isSending: false })
  }, [report, isTyped, isSending])
}

type FormProps<Input extends FieldValues, Output> = ComponentProps<typeof Form<Input, Output>>

interface DialogFormProps<Input extends FieldValues, Output> extends FormProps<Input, Output> {
  form: FormProps<Input, Output>['form'] & { refusal: Refusal | undefined }
  onCancel: () => void
  /** What the button says, such as `Adjust balance`. */
  submitLabel: string
  /** The form shows an error beside its fields that must be mended first: the button is disabled, and Enter sends nothing. */
  isHeld?: boolean
  /** Destructive acts have a red button. */
  isDestructive?: boolean
  children: ReactNode
}

export function DialogForm<Input extends FieldValues, Output>(props: DialogFormProps<Input, Output>) {
  const { onCancel, submitLabel, isHeld = false, isDestructive = false, children, ...form } = props
  const { isDirty, isSubmitting } = useFormState({ control: form.form.control })
  useDialogInput({ isTyped: isDirty, isSending: isSubmitting })
  return (
    <div ref={markFirstField}>
      <Form {...form} onSubmit={async (values) => (isHeld ? undefined : form.onSubmit(values))}>
        {children}
        <FormRefusal form={form.form} />
        <DialogActions>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <SubmitButton
            {...(isHeld && { 'aria-disabled': true, 'data-disabled': true })}
            {...(isDestructive && { color: 'red' })}
          >
            {submitLabel}
          </SubmitButton>
        </DialogActions>
      </Form>
    </div>
  )
}

interface StatefulDialogFormProps {
  /** Whether the fields have input that a closing dialog would lose. Only a `FormDialog` asks about it. */
  isTyped?: boolean
  className?: string | undefined
  submitLabel: string
  onSubmit: () => void
  onCancel: () => void
  children: ReactNode
}

/** A form of a dialog whose fields are kept in the state of the component that renders it, because they have no schema of their own. */
export function StatefulDialogForm({
  isTyped = false,
  className,
  submitLabel,
  onSubmit,
  onCancel,
  children,
}: StatefulDialogFormProps) {
  useDialogInput({ isTyped, isSending: false })
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form className={className} onSubmit={handleSubmit} noValidate>
      {children}
      <DialogActions>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit">{submitLabel}</Button>
      </DialogActions>
    </form>
  )
}

/** Marks the first field for the initial focus. Mantine would focus the close button, where Enter discards the input. */
function markFirstField(dialog: HTMLElement | null): void {
  dialog?.querySelector('input, textarea')?.setAttribute('data-autofocus', '')
}

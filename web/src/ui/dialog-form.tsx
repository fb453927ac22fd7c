/** A form in a dialog (design §8): it opens with the focus in its first field, and ends with Cancel and Confirm. */
import { Button } from '@mantine/core'
import type { ComponentProps, ReactNode } from 'react'
import type { FieldValues } from 'react-hook-form'
import { FormRefusal } from './form-notice.tsx'
import { Form, FormActions, type Refusal, SubmitButton } from './form.tsx'

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

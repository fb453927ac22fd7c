/** The form for the second factor: a code of the authenticator app, a recovery code or a passkey. At sign-in, and before weighty acts. */
import type { CodeInput } from '@arcade/contract/second-factor/calls'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { Anchor, Button, TextInput } from '@mantine/core'
import { type RefObject, useRef, useState } from 'react'
import classes from './code-form.module.css'
import { DialogActions } from './dialog.tsx'
import { FormRefusal } from './form-notice.tsx'
import { Form, type Refusal, SubmitButton, useField, useForm } from './form.tsx'
import { PasskeyButton } from './passkey-button.tsx'

interface CodeFormProps {
  methods: readonly SecondFactorMethod[]
  /** The form's accessible name. */
  label: string
  submitLabel: string
  /** Sends the code, and returns the server's refusal, if any. */
  onCode: (input: CodeInput) => Promise<Refusal | void>
  /** Called if the sign-in has expired. */
  onExpire?: (message: string) => void
  /** Called by the Cancel button of a dialog. Left out if the form is on a page, which has none. */
  onCancel?: () => void
  /** Gets the input, for what gives it the focus at first. A dialog does so by itself when it opens. */
  inputRef?: RefObject<HTMLInputElement | null>
  /** Uses a passkey instead, and returns the refusal, if any. Undefined where the browser has no passkeys. */
  onPasskey?: (() => Promise<Refusal | void>) | undefined
}

export function CodeForm({ methods, label, submitLabel, onCode, onExpire, onCancel, inputRef, onPasskey }: CodeFormProps) {
  const [isRecovery, setIsRecovery] = useState(!methods.includes('totp'))
  const form = useForm(() => import('@arcade/contract/second-factor/calls').then(({ codeInput }) => codeInput), { code: '' })
  const { field, wrapper } = useField({
    control: form.control,
    name: 'code',
    label: isRecovery ? 'Recovery Code' : 'Code',
    isRequired: true,
  })
  const ownRef = useRef<HTMLInputElement>(null)
  const input = inputRef ?? ownRef

  const handleSubmit = async (given: CodeInput) => {
    const refusal = await onCode(given)
    if (refusal?.code === 'SIGN_IN_EXPIRED') onExpire?.(refusal.message ?? '')
    return refusal
  }
  const handlePasskey = async () => {
    const refusal = await onPasskey?.()
    if (refusal?.code === 'SIGN_IN_EXPIRED') onExpire?.(refusal.message ?? '')
    return refusal
  }
  const passkey = onPasskey && methods.includes('passkey') ? <PasskeyButton onUse={handlePasskey} /> : undefined
  /** A person whose only factor is a passkey may have used up the recovery codes. */
  const hasCodes = methods.some((method) => method !== 'passkey')
  const handleSwitch = () => {
    form.reset()
    setIsRecovery(!isRecovery)
    input.current?.focus()
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label={label}>
      <p className={classes['text']}>{isRecovery ? recoveryText(methods, passkey !== undefined) : APP_TEXT}</p>
      {!methods.includes('totp') && passkey}
      {hasCodes && (
        <TextInput
          {...wrapper}
          {...field}
          ref={input}
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          autoCapitalize="characters"
          spellCheck={false}
          data-autofocus
        />
      )}
      {methods.includes('totp') && methods.includes('recovery') && (
        <Anchor component="button" type="button" underline="always" className={classes['switch'] ?? ''} onClick={handleSwitch}>
          {isRecovery ? 'Use your authenticator app' : 'Use a recovery code'}
        </Anchor>
      )}
      {methods.includes('totp') && passkey}
      <FormRefusal form={form} />
      <CodeActions submitLabel={hasCodes ? submitLabel : undefined} onCancel={onCancel} />
    </Form>
  )
}

interface CodeActionsProps {
  /** Undefined if there is no code to send. */
  submitLabel: string | undefined
  onCancel: (() => void) | undefined
}

/** The buttons at the end of the form: those of a dialog if it can be cancelled, otherwise the one of a page. */
function CodeActions({ submitLabel, onCancel }: CodeActionsProps) {
  if (onCancel) {
    return (
      <DialogActions>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        {submitLabel !== undefined && <SubmitButton>{submitLabel}</SubmitButton>}
      </DialogActions>
    )
  }
  if (submitLabel === undefined) return null
  return (
    <SubmitButton size="md" fullWidth>
      {submitLabel}
    </SubmitButton>
  )
}

const LOST = 'Without any, ask an owner of the console to remove your second factor.'
const APP_TEXT = 'Enter the six digits that your authenticator app shows now.'

function recoveryText(methods: readonly SecondFactorMethod[], canUsePasskey: boolean): string {
  if (methods.includes('totp')) return `Enter one of the recovery codes that you kept. Each works once. ${LOST}`
  if (!methods.includes('recovery'))
    return canUsePasskey ? 'Use your passkey.' : 'This browser cannot use your passkey here. Open the console where it can.'
  const other = 'one of the recovery codes that you kept, which work once'
  return canUsePasskey
    ? `Use your passkey, or enter ${other}.`
    : `Enter ${other}. This browser cannot use your passkey here. ${LOST}`
}

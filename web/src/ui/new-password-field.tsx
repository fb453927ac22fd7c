/**
 * A field for a new password (§5), with a hint how hard it is to guess. The hint never blocks a password that §5 accepts. The code that
 * rates passwords knows 3,000 common ones, so it is loaded with the first character; without it there is no hint.
 */
import type { passwordStrength } from '@arcade/contract/password-strength'
import { useEffect, useState } from 'react'
import { type FieldPath, type FieldValues, useWatch } from 'react-hook-form'
import { type FieldProps, PasswordField } from './form.tsx'
import classes from './form.module.css'

interface NewPasswordFieldProps<Input extends FieldValues, Output> extends FieldProps<Input, Output> {
  /** Fields of the form whose values others may know, such as a name: they do not make a password stronger. */
  known?: FieldPath<Input>[]
  /** Other texts that others may know. */
  knownTexts?: readonly string[]
}

function NewPasswordField<Input extends FieldValues, Output>({
  known = [],
  knownTexts = [],
  ...props
}: NewPasswordFieldProps<Input, Output>) {
  const [password = '', ...others] = useWatch({ control: props.control, name: [props.name, ...known] }) as (string | undefined)[]
  const [judge, setJudge] = useState<{ strengthOf: typeof passwordStrength }>()
  const isNeeded = password !== '' && !judge

  useEffect(() => {
    if (!isNeeded) return
    import('@arcade/contract/password-strength').then(
      (module) => setJudge({ strengthOf: module.passwordStrength }),
      () => {},
    )
  }, [isNeeded])

  const texts = [...knownTexts, ...others.map((text) => text ?? '')]
  const strength = password === '' ? undefined : judge?.strengthOf(password, texts)
  return (
    <div className={classes['password']}>
      <PasswordField {...props} autoComplete="new-password" />
      <p className={classes['strength']} data-score={strength?.score} aria-live="polite">
        {strength?.text}
      </p>
    </div>
  )
}

/** The form fields `password` and `confirmPassword`. */
export function NewPasswordFields<Input extends FieldValues & { password: string; confirmPassword: string }, Output>(
  props: Omit<NewPasswordFieldProps<Input, Output>, 'name'>,
) {
  const name = 'password' as FieldPath<Input>
  const confirmName = 'confirmPassword' as FieldPath<Input>
  return (
    <>
      <NewPasswordField {...props} name={name} isRequired checks={[confirmName]} />
      <PasswordField control={props.control} name={confirmName} label="Confirm Password" isRequired autoComplete="new-password" />
    </>
  )
}

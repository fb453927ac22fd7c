/** The second step of Login, after the right password or the sign-in service: the code of the second factor. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { CodeInput } from '@arcade/contract/second-factor/calls'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { Anchor } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { byPasskey, hasPasskeys } from '#src/client/passkeys.ts'
import { CodeForm } from '#src/ui/code-form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { AuthLayout } from './auth-layout.tsx'

interface SecondStepProps {
  methods: readonly SecondFactorMethod[]
  /** What the first step has shown. */
  text?: string
  onSignIn: (user: SessionUser) => Promise<void>
  /** Leads back to Login. */
  onLeave: () => void
}

export function SecondStep({
  methods,
  text = 'Your password is right. Now prove that it is you',
  onSignIn,
  onLeave,
}: SecondStepProps) {
  const field = useRef<HTMLInputElement>(null)
  // After the layout, which gives the focus to its heading.
  useEffect(() => field.current?.focus(), [])

  const handleCode = async (input: CodeInput) => {
    try {
      return await onSignIn((await client.secondFactor.prove(input)).user)
    } catch (cause) {
      return asCallError(cause)
    }
  }
  const handlePasskey = async () => {
    try {
      return await onSignIn((await byPasskey(() => client.passkeys.secondFactorOptions(), client.passkeys.secondFactor)).user)
    } catch (cause) {
      return asCallError(cause)
    }
  }
  const handleExpire = (message: string) => {
    toast.failure(message)
    onLeave()
  }
  const handleBack = () => {
    client.auth.logout().catch(() => {}) // the sign-in that waits ends by itself, too
    onLeave()
  }
  return (
    <AuthLayout
      mode="login"
      title="Second Step"
      text={text}
      footer={
        <Anchor component="button" type="button" underline="always" onClick={handleBack}>
          Sign in as somebody else
        </Anchor>
      }
    >
      <CodeForm
        methods={methods}
        label="Second step"
        submitLabel="Sign In"
        inputRef={field}
        onCode={handleCode}
        onExpire={handleExpire}
        onPasskey={hasPasskeys() ? handlePasskey : undefined}
      />
    </AuthLayout>
  )
}

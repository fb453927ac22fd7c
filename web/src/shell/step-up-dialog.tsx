/** The question for the second factor before a weighty act. */
import type { CodeInput } from '@arcade/contract/second-factor/calls'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { byPasskey, hasPasskeys } from '#src/client/passkeys.ts'
import { CodeForm } from '#src/ui/code-form.tsx'
import { Dialog } from '#src/ui/dialog.tsx'

interface StepUpDialogProps {
  methods: readonly SecondFactorMethod[]
  /** @param isProved whether the proof was accepted; false after Cancel */
  onAnswer: (isProved: boolean) => void
}

export function StepUpDialog({ methods, onAnswer }: StepUpDialogProps) {
  const handleCode = async (input: CodeInput) => {
    try {
      await client.secondFactor.stepUp(input)
      return onAnswer(true)
    } catch (cause) {
      return asCallError(cause)
    }
  }
  const handlePasskey = async () => {
    try {
      await byPasskey(() => client.passkeys.stepUpOptions(), client.passkeys.stepUp)
      return onAnswer(true)
    } catch (cause) {
      return asCallError(cause)
    }
  }
  return (
    <Dialog
      isOpen
      title="Is it you?"
      description="This needs your second factor again. The proof is good for ten minutes."
      onClose={() => onAnswer(false)}
    >
      <CodeForm
        methods={methods}
        label="Second factor"
        submitLabel="Continue"
        onCode={handleCode}
        onCancel={() => onAnswer(false)}
        onPasskey={hasPasskeys() ? handlePasskey : undefined}
      />
    </Dialog>
  )
}

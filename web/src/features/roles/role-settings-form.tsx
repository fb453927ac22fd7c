/** The settings of a role: whether it sees personal fields of players, and the most that it may move at once. */
import type { RoleOutput } from '@arcade/contract/team/calls'
import type { Role } from '@arcade/contract/team/fields'
import { type Permission, permissionsOf, type RoleSettings, roleSettingLabels } from '@arcade/contract/team/permissions'
import { useFormState } from 'react-hook-form'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { CheckboxField } from '#src/ui/form-checkbox.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { Form, FormActions, FormColumns, SubmitButton } from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'

/** A role without any of these has no bulk acts. */
const bulkActs: readonly Permission[] = ['tasks.write', 'announcements.write', 'users.write', 'players.block', 'trash.manage']

/** The limits that mean something for a role. */
function limitsOf(role: Role): ('maxAdjustment' | 'maxAdjustedDaily' | 'maxBulk')[] {
  const held = permissionsOf(role, { seesPersonal: true })
  return [
    ...(held.includes('balances.adjust') ? (['maxAdjustment', 'maxAdjustedDaily'] as const) : []),
    ...(bulkActs.some((permission) => held.includes(permission)) ? (['maxBulk'] as const) : []),
  ]
}

type Editable = Exclude<Role, 'owner'>

export function RoleSettingsForm({ role: { role, label, settings }, onSaved }: { role: RoleOutput; onSaved: () => void }) {
  const form = useDraftForm(
    () => import('@arcade/contract/team/calls').then(({ roleSettingsInput }) => roleSettingsInput),
    asTyped(settings),
    { name: `role ${role}`, used: withoutEmpty },
  )
  const { isDirty } = useFormState({ control: form.control })
  const limits = limitsOf(role)

  const handleSubmit = async (input: RoleSettings) => {
    try {
      await client.team.setSettings({ role: role as Editable, ...input })
      form.finish()
      toast.success(`Settings of ${label} saved.`)
      onSaved()
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error' : error.message, { detail: error.message })
      return error
    }
  }

  return (
    <>
      <DraftOffer offer={form.offer} />
      <Form form={form} onSubmit={handleSubmit} label={`Settings of ${label}`}>
        <CheckboxField
          control={form.control}
          name="seesPersonal"
          label={roleSettingLabels.seesPersonal}
          description="E-mail, phone number, handles, wallets and what players typed in."
        />
        {limits.length > 0 && (
          <FormColumns>
            {limits.map((name) => (
              <NumberField
                key={name}
                control={form.control}
                name={name}
                label={roleSettingLabels[name]}
                hint="Empty for no limit"
              />
            ))}
          </FormColumns>
        )}
        <FormActions notice={<FormRefusal form={form} />}>
          <SubmitButton variant={isDirty ? 'filled' : 'default'} aria-label={`Save settings of ${label}`}>
            Save
          </SubmitButton>
        </FormActions>
      </Form>
    </>
  )
}

type Typed = { [Name in keyof RoleSettings]: RoleSettings[Name] extends boolean ? boolean : number | null }

/** The inputs show nothing for a limit that is not there. */
function asTyped({ seesPersonal, ...limits }: RoleSettings): Typed {
  const shown = Object.entries(limits).map(([name, limit]) => [name, limit ?? ''])
  return { seesPersonal, ...Object.fromEntries(shown) } as Typed
}

function withoutEmpty(values: Typed): Typed {
  const limits = Object.entries(values).map(([name, value]) => [name, (value as unknown) === '' ? null : value])
  return Object.fromEntries(limits) as Typed
}

/** Who may do what: gives a person a role, which makes them an admin, or takes it away. The specification has no screen for it. */
import { type Role, roleLabels, roles } from '@arcade/contract/team/fields'
import { roleDescriptions } from '@arcade/contract/team/permissions'
import { isolated } from '@arcade/contract/text'
import { type DashboardUser, userTypeLabels } from '@arcade/contract/users/fields'
import { Button, NativeSelect } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { client } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { toast } from '#src/ui/toast.tsx'
import { useUnsaved } from '#src/ui/unsaved.ts'
import classes from './update-user-page.module.css'

interface RoleFormProps {
  user: DashboardUser
  onChange: (changed: DashboardUser) => void
}

export function RoleForm({ user, onChange }: RoleFormProps) {
  const [chosen, setChosen] = useState<Role | ''>(user.role ?? '')
  const [problem, setProblem] = useState<string>()
  const select = useRef<HTMLSelectElement>(null)
  const isAdmin = user.role !== null
  useUnsaved(chosen !== (user.role ?? ''), { isKept: false })
  const label = isAdmin ? 'Change Role' : 'Make Admin'
  const give = useRoleChange(user, {
    onChanged: (changed, role) => {
      setChosen(changed.role ?? '')
      if (role === 'user') select.current?.focus() // the pressed button disappears
      onChange(changed)
    },
    onFailure: setProblem,
  })

  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (chosen === '') setProblem('Role is required')
    else if (chosen === user.role) setProblem(`${nameOf(user)} has this role already`)
    else void give(chosen, label, roleDescriptions[chosen])
  }

  return (
    <form aria-label="User type and role" className={classes['role']} noValidate onSubmit={handleSubmit}>
      <div className={classes['row']}>
        <p>
          User Type: <strong>{userTypeLabels[user.userType]}</strong>
        </p>
        {isAdmin && (
          <Button
            variant="default"
            onClick={() => void give('user', 'Make User', 'They lose access to the management of the game.')}
          >
            Make User
          </Button>
        )}
      </div>
      <div className={classes['row']}>
        <NativeSelect
          ref={select}
          label="Role"
          className={classes['select'] ?? ''}
          value={chosen}
          error={problem}
          onChange={({ target }) => {
            setChosen(target.value as Role)
            setProblem(undefined)
          }}
          data={[
            { value: '', label: 'Select a role', disabled: true },
            ...roles.map((role) => ({ value: role, label: roleLabels[role] })),
          ]}
        />
        <Button type="submit" variant="default">
          {label}
        </Button>
      </div>
      <p className={classes['note']}>{chosen === '' ? 'A role makes its person an admin.' : roleDescriptions[chosen]}</p>
    </form>
  )
}

interface RoleChangeOptions {
  onChanged: (changed: DashboardUser, role: Role | 'user') => void
  onFailure: (message: string) => void
}

/** Returns a function that asks, and then gives the user a role, or takes it away for `user`. */
function useRoleChange(user: DashboardUser, { onChanged, onFailure }: RoleChangeOptions) {
  const confirm = useConfirm()
  const [isBusy, setIsBusy] = useState(false)
  return async (role: Role | 'user', title: string, effect: string) => {
    if (isBusy) return
    const name = nameOf(user)
    const act = role === 'user' ? `take the role away from ${name}` : `give ${name} the role ${roleLabels[role]}`
    const message = `Are you sure you want to ${act}? ${effect} ${SESSIONS_END}`
    if (!(await confirm({ title, message }))) return
    setIsBusy(true)
    try {
      const { user: changed } = await client.users.setRole({ id: user.id, role })
      toast.success('Info Updated Successfully!')
      onChanged(changed, role)
      await refreshAfterActOn('users')
    } catch (cause) {
      onFailure(showFailure(cause).message)
    } finally {
      setIsBusy(false)
    }
  }
}

function nameOf({ fname, lname }: DashboardUser): string {
  return isolated(`${fname} ${lname}`)
}

const SESSIONS_END = 'Their sessions end at once.'

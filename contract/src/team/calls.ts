/** Roles of admins: what each may do, and its settings. Users have a call that gives a person a role. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { MAX_NUMBER } from '#src/entity.ts'
import { type Permission, permissions, type Role, roles } from './fields.ts'

export const roleField = z.enum(roles as [Role, ...Role[]])
export const permissionField = z.enum(permissions as [Permission, ...Permission[]])

const LIMIT_RULE = 'A limit is more than 0, or empty for none'
const amountLimit = z.number(LIMIT_RULE).positive(LIMIT_RULE).max(MAX_NUMBER, LIMIT_RULE).nullable()

/** The form for the settings of a role (`RoleSettings`). */
export const roleSettingsInput = z.strictObject({
  seesPersonal: z.boolean(),
  maxAdjustment: amountLimit,
  maxAdjustedDaily: amountLimit,
  maxBulk: z.int(LIMIT_RULE).positive(LIMIT_RULE).nullable(),
})

export const roleOutput = z.object({
  role: roleField,
  label: z.string(),
  permissions: z.array(permissionField),
  settings: roleSettingsInput,
  /** The number of people who have the role. */
  people: z.int(),
})
export type RoleOutput = z.infer<typeof roleOutput>

const done = z.object({ success: z.literal(true) })
const tags = ['Team']

export const team = {
  roles: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/roles', tags, summary: 'The roles, what each may do, and its settings' })
    .output(z.object({ roles: z.array(roleOutput) })),
  setSettings: call(['admin'], { needs: 'users.roles' })
    .route({
      method: 'PUT',
      path: '/api/roles/{role}',
      tags,
      summary: 'Change the settings of a role other than owner: personal fields and limits',
    })
    .input(roleSettingsInput.extend({ role: roleField.exclude(['owner']) }))
    .output(done),
}

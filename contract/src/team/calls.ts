/** Roles of admins: what each may do, and its settings. Users have a call that gives a person a role. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { MAX_NUMBER } from '#src/entity.ts'
import { type Role, roles } from './fields.ts'
import { type Permission, permissions } from './permissions.ts'

export const roleField = z.enum(roles as [Role, ...Role[]])
export const permissionField = z.enum(permissions as [Permission, ...Permission[]])

const LIMIT_RULE = 'Enter more than 0, or nothing'
const amountLimit = z.number(LIMIT_RULE).positive(LIMIT_RULE).max(MAX_NUMBER, LIMIT_RULE).nullable()

/** The form for the settings of a role (`RoleSettings`). */
export const roleSettingsInput = z.strictObject({
  seesPersonal: z.boolean(),
  maxAdjustment: amountLimit,
  maxAdjustedDaily: amountLimit,
  maxBulk: z.int32(LIMIT_RULE).positive(LIMIT_RULE).nullable(),
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

/** What the caller's role may do at most; null without a limit. */
export const ownLimits = z.object({
  maxAdjustment: z.number().nullable(),
  maxAdjustedDaily: z.number().nullable(),
  maxBulk: z.int().nullable(),
  /** The points that the caller may still give and take today (UTC), added up. */
  leftToday: z.number().nullable(),
})
export type OwnLimits = z.infer<typeof ownLimits>

const done = z.object({ success: z.literal(true) })
const tags = ['Team']

export const team = {
  roles: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/roles', tags, summary: 'The roles, what each may do, and its settings' })
    .output(z.object({ roles: z.array(roleOutput) })),
  ownLimits: call(['admin'], { needs: 'account.own' })
    .route({
      method: 'GET',
      path: '/api/account/limits',
      tags,
      summary: 'The most that the caller’s role may do, and what is left today',
    })
    .output(ownLimits),
  setSettings: call(['admin'], { needs: 'users.roles', stepUp: true })
    .route({
      method: 'PUT',
      path: '/api/roles/{role}',
      tags,
      summary: 'Change the settings of a role other than owner: personal fields and limits',
    })
    .input(roleSettingsInput.extend({ role: roleField.exclude(['owner']) }))
    .output(done),
}

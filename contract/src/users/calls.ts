/** Users of the console (§2 Manage Users, §3 users, §5, §7), and registration. */
import { z } from 'zod'
import { MAX_BULK_BODY_BYTES, bulkOutput, bulkRun, bulkTarget } from '#src/bulk.ts'
import { call } from '#src/call.ts'
import { type Role, roles } from '#src/team/fields.ts'
import { userFields, userList, userTypes } from './fields.ts'
import { filterSchema, orderFields, rowSchema } from '#src/list-schemas.ts'
import {
  emailField,
  firstNameField,
  idField,
  lastNameField,
  newPasswordField,
  pageField,
  pageFields,
  versionField,
} from '#src/field-schemas.ts'
import { restoreInput, restoreOutput } from '#src/versions.ts'

export const userTypeField = z.enum(userTypes)

export const confirmPasswordField = z
  .string('Confirm Password is required')
  .normalize('NFC')
  .min(1, 'Confirm Password is required')
  .max(1024)

export const registrationFields = {
  fname: firstNameField,
  lname: lastNameField,
  email: emailField,
  password: newPasswordField,
  confirmPassword: confirmPasswordField,
}

/**
 * The rule of §5, as arguments for `refine`. It is checked even while other fields are invalid, so that the form shows all errors at once.
 */
export const passwordsMatch: [
  (input: { password: string; confirmPassword: string }) => boolean,
  Parameters<z.ZodObject['refine']>[1],
] = [
  (input) => input.password === input.confirmPassword,
  {
    path: ['confirmPassword'],
    message: 'Passwords must match',
    when: ({ value }) => typeof value === 'object' && value !== null,
  },
]

/** Whether `email` is an address at `host`, a domain such as `gmail.com` (§5). */
function isAtHost(host: string, email: string): boolean {
  return email.trim().toLowerCase().endsWith(`@${host.toLowerCase()}`)
}

/** The registration payload of §3. The server's configuration defines the e-mail's host; `registrationInputFor` adds that rule. */
export const registrationInput = z.strictObject(registrationFields).refine(...passwordsMatch)
export type RegistrationInput = z.infer<typeof registrationInput>

/** Returns the e-mail field of an installation whose addresses must be at `host` (§5). */
export function emailFieldFor(host: string) {
  return emailField.refine((email) => isAtHost(host, email), `Email must be a @${host}`)
}

function registrationFieldsFor(host: string) {
  return { ...registrationFields, email: emailFieldFor(host) }
}

/** Returns the registration form of an installation whose addresses must be at `host` (§5). */
export function registrationInputFor(host: string) {
  return z.strictObject(registrationFieldsFor(host)).refine(...passwordsMatch)
}

/** Returns the form of Add User: a registration, and the role of an admin, which are two calls (§7). */
export function newUserInputFor(host: string) {
  return z
    .strictObject({
      ...registrationFieldsFor(host),
      userType: userTypeField,
      role: z.enum(roles as [Role, ...Role[]]).or(z.literal('')),
    })
    .refine(...passwordsMatch)
    .refine(({ userType, role }) => userType === 'user' || role !== '', {
      path: ['role'],
      message: 'Role is required',
      when: ({ value }) => typeof value === 'object' && value !== null,
    })
}
export type NewUserInput = z.infer<ReturnType<typeof newUserInputFor>>

export const dashboardUser = rowSchema(userFields)
export const usersFilter = filterSchema(userList)
export const userUpdateInput = z.strictObject({ fname: firstNameField, lname: lastNameField, version: versionField.optional() })
export type UserUpdateInput = z.infer<typeof userUpdateInput>

const done = z.object({ success: z.literal(true) })

/** `hasSecondFactor`: whether the user has one, which an owner can then remove. */
const shownUser = dashboardUser.extend({ hasSecondFactor: z.boolean() })
export type ShownUser = z.infer<typeof shownUser>

export const users = {
  list: call(['admin'], { needs: 'users.read', unexpected: 'FETCH_USERS_FAILED', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/users', tags: ['Users'], summary: 'Dashboard users other than oneself, 50 a page' })
    .input(usersFilter.extend({ page: pageField, ...orderFields(userList) }))
    .output(z.object({ users: z.array(dashboardUser), ...pageFields })),
  get: call(['admin'], { needs: 'users.read' })
    .route({ method: 'GET', path: '/api/users/{id}', tags: ['Users'], summary: 'One dashboard user' })
    .input(z.strictObject({ id: idField }))
    .output(shownUser),
  update: call(['admin'], { needs: 'users.write' })
    .route({ method: 'PATCH', path: '/api/users/{id}', tags: ['Users'], summary: "Change a user's first and last name" })
    .input(userUpdateInput.extend({ id: idField }))
    .output(done.extend({ user: dashboardUser })),
  restoreVersion: call(['admin'], { needs: 'users.write' })
    .route({
      method: 'POST',
      path: '/api/users/{id}/restore',
      tags: ['Users'],
      summary: "Restore the version of a user's names that an audit entry recorded",
    })
    .input(restoreInput)
    .output(restoreOutput),
  setUserType: call(['admin'], { needs: 'users.roles', stepUp: true })
    .route({
      method: 'PUT',
      path: '/api/users/{id}/user-type',
      tags: ['Users'],
      summary: 'Make a user an owner, or an admin of any role a user',
    })
    .input(z.strictObject({ id: idField, userType: userTypeField }))
    .output(done.extend({ user: dashboardUser })),
  setRole: call(['admin'], { needs: 'users.roles', stepUp: true })
    .route({
      method: 'PUT',
      path: '/api/users/{id}/role',
      tags: ['Users'],
      summary: 'Give a person a role, which makes the person an admin; `user` takes it away',
    })
    .input(z.strictObject({ id: idField, role: z.enum([...roles, 'user']) }))
    .output(done.extend({ user: dashboardUser })),
  create: call(['admin'], { needs: 'users.write', failure: 'status', heedsIdempotencyKey: true })
    .route({ method: 'POST', path: '/registerUser', tags: ['Users'], summary: 'Add a user' })
    .input(registrationInput)
    .output(z.object({ status: z.literal('success'), message: z.string(), id: idField })),
  removeMany: call(['admin'], { needs: 'users.write', bodyLimitBytes: MAX_BULK_BODY_BYTES })
    .route({
      method: 'POST',
      path: '/api/users/remove',
      tags: ['Users'],
      summary: 'Remove many users; never oneself or the last admin',
    })
    .input(z.strictObject({ target: bulkTarget(usersFilter), ...bulkRun }))
    .output(bulkOutput),
  remove: call(['admin'], { needs: 'users.write', failure: 'status' })
    .route({ method: 'DELETE', path: '/removeUser/{id}', tags: ['Users'], summary: 'Remove a user and end their sessions' })
    .input(z.strictObject({ id: idField }))
    .output(z.object({ status: z.literal('success'), message: z.string() })),
}

/** Users of the console (§3 users) and the list of them (§2 Manage Users). */
import { roleLabels } from '#src/team/fields.ts'
import { defineList, type Fields, type FilterOf, type RowOf, type SortName } from '#src/entity.ts'

export const userTypeLabels = { admin: 'Admin', user: 'User' } as const
export type UserType = keyof typeof userTypeLabels
export const userTypes = Object.keys(userTypeLabels) as UserType[]

/** A user's fields (§3 users). */
export const userFields = {
  id: { label: 'ID', kind: 'text' },
  fname: { label: 'First Name', kind: 'text', sheetWidth: 20 },
  lname: { label: 'Last Name', kind: 'text', sheetWidth: 20 },
  email: { label: 'Email', kind: 'text', sheetWidth: 32 },
  userType: { label: 'User Type', kind: 'choice', options: userTypeLabels, sheetWidth: 12 },
  /** The role of an admin; null for a user. */
  role: { label: 'Role', kind: 'choice', options: roleLabels, isOptional: true },
  createdAt: { label: 'Created At', kind: 'moment', sheetWidth: 24 },
  /** The user's last sign-in or activity, accurate to ten minutes. */
  lastSeenAt: { label: 'Last Seen', kind: 'moment', isOptional: true },
  version: { label: 'Version', kind: 'integer' },
} as const satisfies Fields
export type DashboardUser = RowOf<typeof userFields>

/** `search` finds part of a name or of the e-mail. */
export const userList = defineList({
  name: 'users',
  noun: { one: 'user', many: 'users' },
  emptyText: 'No other users yet.',
  fileName: 'userdata.xlsx', // §7
  fields: userFields,
  filters: {
    userType: { label: 'User Type', kind: 'choice', field: 'userType', options: userTypeLabels },
    role: { label: 'Role', kind: 'choice', field: 'role', options: roleLabels },
  },
  sorts: {
    created: { label: 'Created', field: 'createdAt' },
    'first-name': { label: 'First Name', field: 'fname' },
    'last-name': { label: 'Last Name', field: 'lname' },
    email: { label: 'Email', field: 'email' },
  },
  defaultSort: 'created',
  pageSizes: [50], // §9
  isOfPeople: true,
})
export type UsersFilter = FilterOf<typeof userList>
export type UsersSort = SortName<typeof userList>

/**
 * The parameters of Update User's path (§2). Only the id is read back. Browsers drop the path segments `.` and `..` even when encoded, and
 * an empty segment matches no route.
 */
export function updateUserAddress({ id, fname, lname, email }: DashboardUser) {
  const segment = (text: string): string => (['', '.', '..'].includes(text) ? '-' : text)
  return { userId: id, fname: segment(fname), lname: segment(lname), email: segment(email) }
}

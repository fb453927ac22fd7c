/**
 * What each role may do. A role is a set of permissions; each call of the contract names the one that it needs. The first page that a browser
 * loads knows its person's own permissions and needs none of this.
 */
import { type Role, roles } from './fields.ts'

/** Each permission, with the words that the console and a refusal use for it. */
export const permissionLabels = {
  'account.own': 'Use one’s own account',
  'dashboard.read': 'See the dashboard',
  'views.own': 'Save views of lists',
  'users.read': 'See dashboard users',
  'users.write': 'Add, rename and remove dashboard users',
  'users.roles': 'Change roles and what they may do',
  'tasks.read': 'See tasks',
  'tasks.write': 'Change tasks',
  'announcements.read': 'See announcements',
  'announcements.write': 'Change announcements',
  'broadcasts.read': 'See broadcasts',
  'broadcasts.write': 'Send broadcasts',
  'players.read': 'See players',
  'players.personal': 'See personal fields of players',
  'players.block': 'Block players',
  'players.erase': 'Erase players',
  'balances.adjust': 'Adjust balances',
  'history.read': 'See who took part',
  'exports.make': 'Download spreadsheets',
  'notes.write': 'Write notes',
  'audit.read': 'Read the audit',
  'trash.manage': 'Look through the trash, restore and purge',
  'tokens.manage': 'Manage bot tokens',
  'webhooks.manage': 'Manage webhooks',
  'backups.manage': 'Manage backups',
} as const
export type Permission = keyof typeof permissionLabels
export const permissions = Object.keys(permissionLabels) as Permission[]

/** What each role may do, in one sentence. */
export const roleDescriptions: Readonly<Record<Role, string>> = {
  owner: 'May do everything, also give roles and manage bot tokens, webhooks and backups.',
  manager: 'May do everything but give roles and manage bot tokens, webhooks and backups.',
  editor: 'Makes tasks, announcements and broadcasts, and looks players up.',
  reviewer: 'Looks players up, sees who took part, and writes notes.',
  analyst: 'Reads and downloads, and changes nothing.',
}

const readsItems = ['tasks.read', 'announcements.read', 'broadcasts.read', 'players.read', 'history.read'] as const
const everyRole = ['account.own', 'dashboard.read', 'views.own'] as const

/** What each role may do. Whether it sees personal fields of players is a setting, which owners change (`RoleSettings`). */
const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  owner: permissions,
  manager: permissions.filter((one) => !['users.roles', 'tokens.manage', 'webhooks.manage', 'backups.manage'].includes(one)),
  editor: [
    ...everyRole,
    ...readsItems,
    'tasks.write',
    'announcements.write',
    'broadcasts.write',
    'players.personal',
    'exports.make',
    'notes.write',
  ],
  reviewer: [...everyRole, 'players.read', 'players.personal', 'history.read', 'notes.write'],
  analyst: [...everyRole, ...readsItems, 'players.personal', 'exports.make'],
}

/** What owners decide about a role other than their own. */
export interface RoleSettings {
  /** Whether the role sees personal fields of players: e-mail, phone number, handles and wallets. */
  seesPersonal: boolean
  /** The most points that one adjustment may give or take; null without a limit. */
  maxAdjustment: number | null
  /** The most points that one person's adjustments may give and take in a UTC day, added up; null without a limit. */
  maxAdjustedDaily: number | null
  /** The most records that one bulk act may change; null without a limit. */
  maxBulk: number | null
}

/** The settings of a role until an owner changes them. */
export const defaultRoleSettings: Readonly<Record<Role, RoleSettings>> = {
  owner: settings({ seesPersonal: true }),
  manager: settings({ seesPersonal: true }),
  editor: settings({ seesPersonal: true }),
  reviewer: settings({ seesPersonal: true }),
  analyst: settings({ seesPersonal: false }),
}

function settings({ seesPersonal }: Pick<RoleSettings, 'seesPersonal'>): RoleSettings {
  return { seesPersonal, maxAdjustment: null, maxAdjustedDaily: null, maxBulk: null }
}

/** The settings of a role by the labels that forms and the audit use. */
export const roleSettingLabels = {
  seesPersonal: 'Sees personal fields of players',
  maxAdjustment: 'Most points in one adjustment',
  maxAdjustedDaily: 'Most points adjusted in a day',
  maxBulk: 'Most records in one bulk act',
} as const satisfies Record<keyof RoleSettings, string>

/** Returns the permissions of a role with these settings, in the order of their declaration. */
export function permissionsOf(role: Role, { seesPersonal }: Pick<RoleSettings, 'seesPersonal'>): Permission[] {
  const held = rolePermissions[role]
  return permissions.filter((one) => held.includes(one) && (one !== 'players.personal' || seesPersonal))
}

/**
 * Returns the roles to whose people a person with these permissions may do nothing, because they may do more. Neither may the person give
 * such a role to anybody.
 * @param present the settings of each role, which owners change
 */
export function rolesAbove(
  held: readonly Permission[],
  present: Readonly<Record<Role, Pick<RoleSettings, 'seesPersonal'>>>,
): Role[] {
  return roles.filter((role) => permissionsOf(role, present[role]).some((one) => !held.includes(one)))
}

/**
 * Returns the roles to which a person may not invite anybody: those above, and for people who may not change roles their own one too. With a
 * second account of the role a person could move twice the points that the role may move in a day.
 */
export function rolesNotToInvite(
  { permissions: held, role: own }: { permissions: readonly Permission[]; role: Role | null },
  present: Readonly<Record<Role, Pick<RoleSettings, 'seesPersonal'>>>,
): Role[] {
  const above = rolesAbove(held, present)
  return roles.filter((role) => above.includes(role) || (role === own && !held.includes('users.roles')))
}

/** The permission that a call needs. Of several, one is enough, and the handler checks what the record itself needs. */
export type Needs = Permission | readonly [Permission, ...Permission[]]

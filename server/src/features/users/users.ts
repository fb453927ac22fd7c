/** Manage Users (§2, §5, §6, §7): list the other users, change names and roles, add and remove users. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { DashboardUser } from '@arcade/contract/users/fields'
import type { contract } from '@arcade/contract/contract'
import type { Role } from '@arcade/contract/team/fields'
import { type UserUpdateInput, userUpdateInput } from '@arcade/contract/users/calls'
import { actOf, audit, changesBetween } from '#src/audit/audit.ts'
import { checkedInput, earlierVersion } from '#src/audit/versions.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import { selectedFields, userEntity } from '#src/db/entities.ts'
import { numberedPages } from '#src/lists/numbered-pages.ts'
import type { Tables } from '#src/db/tables.ts'
import { hashNewPassword, type PasswordPolicy } from '#src/identity/passwords.ts'
import { methodsOf } from '#src/identity/second-factor.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import {
  changeRole,
  checkRegistration,
  createAccount,
  isEmailTaken,
  newAccountEntry,
  userRecord,
} from '#src/identity/accounts.ts'
import type { Mails } from '#src/mail/mails.ts'
import type { Trash } from '#src/audit/trash.ts'
import { type Admin, lockAdmins, refuseAbove } from '#src/identity/roles.ts'
import { moveUsersToTrash, removeUsers } from './users-bulk.ts'
import { servedUsers } from './users-list.ts'

export interface UsersServices {
  database: Database
  sessions: Sessions
  registrationEmailHost: string
  passwordPolicy: PasswordPolicy
  mails: Mails
  trash: Trash
}

const shown = selectedFields(userEntity, {})

export function usersHandlers(services: UsersServices): Handlers<typeof contract.users> {
  const { database, sessions, registrationEmailHost, passwordPolicy, mails, trash } = services
  const { db } = database
  const readPage = numberedPages(database, servedUsers)
  /** Runs `change` on a user, then drops what any process has cached about the user. */
  const changeUser = async <T>(id: string, change: (tx: Transaction<Tables>) => Promise<T>, isDryRun = false): Promise<T> => {
    const result = await transactionOrDryRun(database, isDryRun, async (tx) => {
      const changed = await change(tx)
      await sessions.announceChange(tx, id)
      return changed
    })
    sessions.forgetUser(id)
    return result
  }

  /** Gives a person the role that `choose` returns for the present one, and ends the person's sessions if it is another one. */
  const setRole = (id: string, context: CallContext, choose: (before: Role | null) => Role | null): Promise<DashboardUser> => {
    refuseSelf(id, context)
    return changeUser(id, async (tx) => {
      const admins = await lockAdmins(tx, context)
      const before = await findUser(tx, id, 'lock')
      const from = admins.find((admin) => admin.id === id)?.role ?? null
      const to = choose(from)
      if (from === to) return before
      if (to === null) refuseLastAdmin(id, admins)
      if (from === 'owner') refuseLastOwner(id, admins)
      await changeRole(tx, { id, from, to })
      await sessions.endAllOf(tx, id)
      const after = await findUser(tx, id)
      const changes = changesBetween(roleOf(before), roleOf(after))
      await audit(tx, actOf(context), 'user.role', { record: userRecord(after), changes, detail: { version: after.version } })
      await mails.queue(tx, { to: { userId: id }, kind: 'roleChange', role: to })
      return after
    })
  }

  return {
    async list(query, context) {
      const { rows: users, ...page } = await readPage(query, context)
      return { users, ...page }
    },

    async get({ id }) {
      return { ...(await findUser(db, id)), hasSecondFactor: (await methodsOf(db, id)).length > 0 }
    },

    async update({ id, version, ...names }, context) {
      const user = await changeUser(id, async (tx) => rename(tx, { before: await lockVersion(tx, id, version), names, context }))
      return { success: true, user }
    },

    restoreVersion({ id, seq, version, dryRun }, context) {
      const restore = async (tx: Transaction<Tables>) => {
        const before = await lockVersion(tx, id, version)
        const present = { record: userRecord(before), fields: namesOf(before), version }
        const names = checkedInput(userUpdateInput, await earlierVersion(tx, present, seq))
        const changes = changesBetween(namesOf(before), names)
        if (Object.keys(changes).length > 0) await rename(tx, { before, names, context, restoredFrom: seq })
        return { success: true, changes: JSON.stringify(changes), missing: [] as never[] } as const
      }
      return changeUser(id, restore, dryRun)
    },

    async setUserType({ id, userType }, context) {
      const user = await setRole(id, context, (before) => (userType === 'user' ? null : (before ?? 'owner')))
      return { success: true, user }
    },

    async setRole({ id, role }, context) {
      const user = await setRole(id, context, () => (role === 'user' ? null : role))
      return { success: true, user }
    },

    async create(input, context) {
      checkRegistration(input, registrationEmailHost)
      const before = () => hashNewPassword(input.password, passwordPolicy)
      const create = async (tx: Transaction<Tables>, passwordHash: string) => {
        const user = await createAccount(tx, { ...input, passwordHash, userType: 'user' })
        await audit(tx, actOf(context), 'user.create', newAccountEntry(user))
        return { status: 'success', message: 'User Added Successfuly!', id: user.id } as const // sic, §8
      }
      return createOnce(database, context, { before, create }).catch((cause: unknown) => {
        // An admin can see the list of users anyway, so may learn that the e-mail is taken. A guest who registers may not (security.md).
        if (!isEmailTaken(cause)) throw cause
        throw new Failure('CREATE_USER_FAILED', { fields: { email: 'This email is in use already' }, cause })
      })
    },

    async remove({ id }, context) {
      refuseSelf(id, context)
      await changeUser(id, async (tx) => {
        const admins = await lockAdmins(tx, context)
        await findUser(tx, id, 'lock')
        refuseLastAdmin(id, admins)
        refuseLastOwner(id, admins)
        await refuseAbove(tx, admins.find((admin) => admin.id === id)?.role ?? null, signedIn(context).permissions)
        await moveUsersToTrash(tx, context, { trash, where: sql`id = ${id}` })
        await sessions.endAllOf(tx, id)
      })
      return { status: 'success', message: 'User Removed Successfully!' }
    },

    removeMany: ({ target, dryRun, expected }, context) => removeUsers(services, context, { target, dryRun, expected }),
  }
}

async function findUser(db: Kysely<Tables>, id: string, lock?: 'lock'): Promise<DashboardUser> {
  const query = db.selectFrom('users').select(shown).where('id', '=', id)
  const user = await (lock ? query.forUpdate() : query).executeTakeFirst()
  if (!user) throw new Failure('NO_SUCH_USER')
  return user
}

async function lockVersion(tx: Kysely<Tables>, id: string, version: number | undefined): Promise<DashboardUser> {
  const user = await findUser(tx, id, 'lock')
  if (version !== undefined && user.version !== version) throw new Failure('STALE')
  return user
}

function namesOf({ fname, lname }: UserUpdateInput): { fname: string; lname: string } {
  return { fname, lname }
}

interface Renaming {
  before: DashboardUser
  names: UserUpdateInput
  context: CallContext
  /** The number (`seq`) of the audit entry whose version is restored. */
  restoredFrom?: number
}

async function rename(tx: Transaction<Tables>, { before, names, context, restoredFrom }: Renaming): Promise<DashboardUser> {
  await refuseAbove(tx, before.role, signedIn(context).permissions)
  const after = await tx
    .updateTable('users')
    .set({ ...namesOf(names), version: sql`version + 1` })
    .where('id', '=', before.id)
    .returning(shown)
    .executeTakeFirstOrThrow()
  await audit(tx, actOf(context), 'user.update', {
    record: userRecord(after),
    changes: changesBetween(namesOf(before), namesOf(after)),
    detail: { version: after.version, restoredFrom },
  })
  return after
}

function refuseSelf(id: string, context: CallContext): void {
  if (signedIn(context).id === id) throw new Failure('NOT_YOURSELF')
}

function refuseLastAdmin(id: string, admins: readonly Admin[]): void {
  if (admins.length === 1 && admins[0]?.id === id) throw new Failure('LAST_ADMIN')
}

function refuseLastOwner(id: string, admins: readonly Admin[]): void {
  const owners = admins.filter(({ role }) => role === 'owner')
  if (owners.length === 1 && owners[0]?.id === id) throw new Failure('LAST_OWNER')
}

function roleOf({ userType, role }: DashboardUser): Pick<DashboardUser, 'userType' | 'role'> {
  return { userType, role }
}

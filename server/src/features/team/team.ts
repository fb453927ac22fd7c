/** The roles of admins: what each may do, how many people have it, and its settings, which owners change. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { type Role, roleLabels, roles } from '@arcade/contract/team/fields'
import { permissionsOf } from '@arcade/contract/team/permissions'
import { actOf, audit, changesBetween } from '#src/audit/audit.ts'
import { type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { readOwnLimits } from '#src/identity/role-limits.ts'
import { lockAdmins, readRoleSettings, roleThatCountsOf, writeRoleSettings } from '#src/identity/roles.ts'
import type { Sessions } from '#src/identity/sessions.ts'

export function teamHandlers({ database, sessions }: { database: Database; sessions: Sessions }): Handlers<typeof contract.team> {
  const { db } = database
  return {
    async roles() {
      const settings = await readRoleSettings(db)
      const { rows } = await sql<{ role: Role; people: number }>`
        select ${roleThatCountsOf()} as role, count(*) as people from users where user_type = 'admin' group by 1`.execute(db)
      const people = new Map(rows.map((row) => [row.role, row.people]))
      return {
        roles: roles.map((role) => ({
          role,
          label: roleLabels[role],
          permissions: permissionsOf(role, settings[role]),
          settings: settings[role],
          people: people.get(role) ?? 0,
        })),
      }
    },

    ownLimits: (_input, context) => readOwnLimits(db, signedIn(context).id),

    async setSettings({ role, ...settings }, context) {
      await database.transaction(async (tx) => {
        const admins = await lockAdmins(tx, context) // of two changes at once, the second one sees what the first one wrote
        const before = (await readRoleSettings(tx))[role]
        const changes = changesBetween({ ...before }, { ...settings })
        if (Object.keys(changes).length === 0) return
        await writeRoleSettings(tx, role, settings)
        const losing = before.seesPersonal && !settings.seesPersonal ? admins.filter((admin) => admin.role === role) : []
        await sessions.announceManyChanges(
          tx,
          losing.map(({ id }) => id),
        )
        const record = { kind: 'role', id: role, name: roleLabels[role] } as const
        await audit(tx, actOf(context), 'role.update', { record, changes })
      })
      sessions.forgetUser()
      return { success: true }
    },
  }
}

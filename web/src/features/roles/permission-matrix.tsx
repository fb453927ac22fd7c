/** The matrix of roles and permissions in plain words, grouped by area. On a phone each permission stands above its five marks. */
import type { RoleOutput } from '@arcade/contract/team/calls'
import { type Permission, permissionLabels } from '@arcade/contract/team/permissions'
import { IconCheck } from '@tabler/icons-react'
import { Fragment } from 'react'
import { roles as tableRoles } from '#src/ui/table-roles.ts'
import classes from './roles-page.module.css'

/** The area of the console that each permission belongs to. */
const areas: Record<Permission, string> = {
  'account.own': 'Everybody',
  'dashboard.read': 'Everybody',
  'views.own': 'Everybody',
  'players.read': 'Players',
  'players.personal': 'Players',
  'history.read': 'Players',
  'notes.write': 'Players',
  'players.block': 'Players',
  'balances.adjust': 'Players',
  'players.erase': 'Players',
  'exports.make': 'Players',
  'tasks.read': 'Tasks, announcements and broadcasts',
  'tasks.write': 'Tasks, announcements and broadcasts',
  'announcements.read': 'Tasks, announcements and broadcasts',
  'announcements.write': 'Tasks, announcements and broadcasts',
  'broadcasts.read': 'Tasks, announcements and broadcasts',
  'broadcasts.write': 'Tasks, announcements and broadcasts',
  'users.read': 'Team',
  'users.write': 'Team',
  'users.roles': 'Team',
  'audit.read': 'Upkeep',
  'trash.manage': 'Upkeep',
  'tokens.manage': 'Upkeep',
  'webhooks.manage': 'Upkeep',
  'backups.manage': 'Upkeep',
}
const grouped = Map.groupBy(Object.keys(areas) as Permission[], (permission) => areas[permission])

export function PermissionMatrix({ roles }: { roles: readonly RoleOutput[] }) {
  return (
    <table {...tableRoles.table} aria-label="What each role may do" className={classes['matrix']}>
      <thead {...tableRoles.group}>
        <tr {...tableRoles.row}>
          <th {...tableRoles.header} className={classes['corner']}>
            <span className="app-sr-only">Permission</span>
          </th>
          {roles.map(({ role, label }) => (
            <th key={role} {...tableRoles.header}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...tableRoles.group}>
        {[...grouped].map(([area, permissions]) => (
          <Fragment key={area}>
            <tr {...tableRoles.row} className={classes['area']}>
              <th {...tableRoles.header} scope="colgroup" colSpan={roles.length + 1}>
                {area}
              </th>
            </tr>
            {permissions.map((permission) => (
              <tr key={permission} {...tableRoles.row}>
                <th {...tableRoles.rowHeader} title={permission}>
                  {permissionLabels[permission]}
                </th>
                {roles.map(({ role, label, permissions: held }) => (
                  <Mark key={role} label={label} isHeld={held.includes(permission)} />
                ))}
              </tr>
            ))}
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

function Mark({ label, isHeld }: { label: string; isHeld: boolean }) {
  return (
    <td {...tableRoles.cell} data-held={isHeld || undefined}>
      <span className="app-sr-only">{`${label}: ${isHeld ? 'yes' : 'no'}`}</span>
      {isHeld ? <IconCheck size={18} stroke={2} aria-hidden /> : <span aria-hidden>–</span>}
    </td>
  )
}

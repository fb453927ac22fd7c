/** The list of the console's users (§2 /manage-users), 50 per page. The server leaves out the signed-in user. */
import { type DashboardUser, userList, userTypeLabels } from '@arcade/contract/users/fields'
import { type Role, roleLabels } from '@arcade/contract/team/fields'
import { isolated } from '@arcade/contract/text'
import { type Icon, IconChartBar, IconCrown, IconEye, IconPencil, IconShieldCheck, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { createContext, use } from 'react'
import { api, client } from '#src/client/client.ts'
import { DeleteRowButton, DeleteSelectedButton } from '#src/lists/acts.tsx'
import { listColumns } from '#src/lists/columns.tsx'
import { updateUserHref } from '#src/lists/form-hrefs.ts'
import { ExportAllButton } from '#src/lists/export-buttons.tsx'
import { listFilter, listOrder } from '#src/lists/list-address.ts'
import { ListTable } from '#src/lists/list-table.tsx'
import { asListed, useList } from '#src/lists/use-list.ts'
import { useMay } from '#src/session.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { useIsPhone } from '#src/ui/window-width.ts'
import { Page } from '#src/ui/page.tsx'
import { EditButton } from '#src/lists/row-buttons.tsx'
import { InviteButton } from './invite.tsx'
import { OpenInvitations } from './open-invitations.tsx'
import { OpenPasswordLinks } from './open-password-links.tsx'
import { useRolesAbove } from './roles-above.ts'
import classes from './manage-users-page.module.css'

/** The permission for all that changes users, but their roles. */
const WRITE = 'users.write'
const CONSEQUENCE = 'Their sessions end at once.'

/** Roles whose people the signed-in person may not delete. A context, because drawing takes longer if each row asks for them. */
const RolesAbove = createContext<readonly Role[]>([])

const columns = listColumns(userList, {
  // The default order is the order of creation, so the rows are numbered in that order.
  createdAt: { header: 'Sr.No', render: (_, number) => number, width: 3.5, grow: 0.2, card: 'fold' },
  fname: {
    viewMore: true,
    mark: (user) => <RoleIcon {...user} />,
    width: 6,
    grow: 2,
    card: 'title',
  },
  lname: { viewMore: true, width: 6, grow: 2, card: 'start' },
  email: { viewMore: true, width: 8, grow: 3, card: 'wide' },
  'Created At': {
    render: ({ createdAt }) => <Moment iso={createdAt} />,
    isHiddenAtFirst: true,
    width: 5.5,
    grow: 1,
    card: 'fold',
  },
  role: { missing: '–', isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
  lastSeenAt: { missing: 'not known', isHiddenAtFirst: true, width: 5.5, grow: 1, card: 'fold' },
  Update: { render: (user) => <UpdateButton user={user} />, needs: WRITE, width: 3.25, grow: 0.2, card: 'end' },
  Delete: { render: (user) => <DeleteButton user={user} />, needs: WRITE, width: 2.75, grow: 0.2, card: 'end' },
  id: false,
  userType: false,
  version: false,
})

export function ManageUsersPage() {
  const address = useSearch({ from: '/shell/management/manage-users' })
  const input = { ...listFilter(userList, address), ...listOrder(userList, address), page: address.page ?? 1 }
  const query = useQuery(api.users.list.queryOptions({ input, ...asListed }))
  const state = useList(userList, { address, query, rowsOf: ({ users }) => users })
  const everyone = useQuery(
    api.users.list.queryOptions({ input: {}, select: ({ total }) => ({ total }), enabled: !state.isWhole }),
  )
  const mayWrite = useMay(WRITE)
  const mayGiveRoles = useMay('users.roles')
  const above = useRolesAbove()
  const isPhone = useIsPhone() // its menu has the link to the roles, and Add User the invitation: the heading has no room for them
  return (
    <Page
      isList
      title="Manage Users"
      actions={
        <>
          <ExportAllButton state={state} call="users" everyone={everyone.data?.total} />
          {mayGiveRoles && !isPhone && (
            <LinkButton to="/roles" variant="default">
              What Roles May Do
            </LinkButton>
          )}
          {mayWrite && !isPhone && <InviteButton />}
          {mayWrite && <LinkButton to="/add-user">Add User</LinkButton>}
        </>
      }
    >
      <RolesAbove value={above}>
        <ListTable
          label="Users"
          state={state}
          columns={columns}
          rowKey={({ id }) => id}
          firstStep={mayWrite && <LinkButton to="/add-user">Add the first user</LinkButton>}
          actsNeed={WRITE}
          acts={
            <DeleteSelectedButton
              list={userList}
              selection={state.selection}
              consequence={() => CONSEQUENCE}
              run={(target, run, options) => client.users.removeMany({ target, ...run }, options)}
            />
          }
        />
      </RolesAbove>
      <OpenInvitations />
      <OpenPasswordLinks />
    </Page>
  )
}

/** The role is shown as an icon with its name, because §2 lists the texts of a row and the role is not among them. */
function RoleIcon({ userType, role }: Pick<DashboardUser, 'userType' | 'role'>) {
  const Icon = role === null ? IconUser : roleIcons[role]
  const label = role === null ? userTypeLabels[userType] : roleLabels[role]
  return (
    <span title={label} className={classes['role']} data-admin={role !== null || undefined}>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an <img> would not take the colour of the text */}
      <Icon size={18} stroke={1.75} role="img" aria-label={label} />
    </span>
  )
}

const roleIcons: Record<Role, Icon> = {
  owner: IconCrown,
  manager: IconShieldCheck,
  editor: IconPencil,
  reviewer: IconEye,
  analyst: IconChartBar,
}

function UpdateButton({ user }: { user: DashboardUser }) {
  return <EditButton isOpener label="Update" href={updateUserHref(user)} />
}

function DeleteButton({ user: { id, fname, lname, email, role } }: { user: DashboardUser }) {
  const above = use(RolesAbove)
  if (role !== null && above.includes(role)) return null
  return (
    <DeleteRowButton
      list={userList}
      question={`Are you sure you want to delete ${isolated(`${fname} ${lname}`)} (${email})? ${CONSEQUENCE}`}
      run={async (options) => (await client.users.remove({ id }, options)).message || 'User Removed Successfully!'}
    />
  )
}

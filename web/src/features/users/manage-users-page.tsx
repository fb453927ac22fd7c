/** The dashboard's users (§2 /manage-users): 50 a page, oneself left out by the server; searched, sorted, filtered, picked. */
import type { DashboardUser, UsersFilter } from '@arcade/contract/entities/user'
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api, asCallError, client, fetchSpreadsheet, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { type Column, DataTable, RowActions } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { defined, listControls } from '#src/ui/list-search.ts'
import type { Filter } from '#src/ui/list-toolbar.tsx'
import { Page } from '#src/ui/page.tsx'
import { BulkButton, useSelection } from '#src/ui/selection.tsx'
import { toast } from '#src/ui/toast.tsx'
import type { UsersSearch } from './users-search.ts'

const DEFAULT_FILE_NAME = 'userdata.xlsx' // §7

const columns: readonly Column<DashboardUser>[] = [
  { header: 'Sr.No', render: (_, number) => number, sort: 'created' },
  { header: 'First Name', value: ({ fname }) => fname, viewMore: true, sort: 'first-name' },
  { header: 'Last Name', value: ({ lname }) => lname, viewMore: true, sort: 'last-name' },
  { header: 'Email', value: ({ email }) => email, viewMore: true, sort: 'email' },
  { header: 'Update', render: (user) => <UpdateButton user={user} /> },
  { header: 'Delete', render: (user) => <DeleteButton user={user} /> },
]

const filters: readonly Filter[] = [
  {
    name: 'userType',
    label: 'User Type',
    kind: 'choice',
    options: [
      { value: 'admin', label: 'Admin' },
      { value: 'user', label: 'User' },
    ],
  },
]

export function ManageUsersPage() {
  const search = useSearch({ from: '/shell/management/manage-users' })
  const { q, userType, sort = 'created', reversed = false, page = 1 } = search
  const navigate = useNavigate()
  const filter: UsersFilter = defined({ search: q, userType })
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.users.list.queryOptions({ input: { ...filter, sort, reversed, page }, placeholderData: keepPreviousData }),
  )
  const selection = useSelection<UsersFilter>('users', filter)
  const show = (next: UsersSearch, replace = false) =>
    void navigate({ to: '/manage-users', search: defined({ ...search, page: undefined, ...next }), replace })
  const controls = listControls({ search, ownSort: 'created', values: { userType }, show })

  return (
    <Page
      title="Manage Users"
      actions={
        <>
          <DownloadButton
            label="Download User Data"
            start={(options) => fetchSpreadsheet('users', {}, { ...options, fallbackName: DEFAULT_FILE_NAME })}
            successText="Data Downloaded Successfuly!" // sic, §8
            failureText="Error Downloading Data!"
          />
          <LinkButton to="/add-user">Add User</LinkButton>
        </>
      }
    >
      <DataTable
        label="Users"
        toolbar={{ ...controls.toolbar, searchLabel: 'Search users', filters }}
        sorting={controls.sorting}
        picking={{
          selection,
          total: data?.total,
          actions: (
            <>
              <DownloadButton
                id="users selection"
                label="Download Selection"
                size="compact-md"
                start={(options) =>
                  fetchSpreadsheet(
                    'selection',
                    { list: 'users', target: selection.target },
                    { ...options, fallbackName: DEFAULT_FILE_NAME },
                  )
                }
                successText="Data Downloaded Successfuly!" // sic, §8
                failureText="Error Downloading Data!"
              />
              <BulkButton
                act={{
                  title: 'Delete users',
                  question: (count) => `Are you sure you want to delete ${count} users? Their sessions end at once.`,
                  isDestructive: true,
                  run: (run) => client.users.removeMany({ target: selection.target, ...run }),
                  successText: (count) => `${count} users deleted.`,
                  messageOf: (problem) => asCallError(problem).message,
                  onEnd: () => {
                    selection.clear()
                    void queryClient.invalidateQueries()
                  },
                }}
              >
                Delete Selected
              </BulkButton>
            </>
          ),
        }}
        columns={columns}
        rows={data?.users}
        rowKey={({ id }) => id}
        emptyText={q === undefined && userType === undefined ? 'No other users yet.' : 'No user matches.'}
        error={error && !data ? asCallError(error).message : undefined}
        onRetry={() => void refetch()}
        isStale={isPlaceholderData}
        paging={data && { page, pageSize: data.pageSize, pageCount: data.pageCount }}
        onPageChange={(next) => show({ page: next > 1 ? next : undefined })}
      />
    </Page>
  )
}

function UpdateButton({ user }: { user: DashboardUser }) {
  return (
    <LinkButton
      variant="default"
      size="compact-sm"
      to="/update-user/$userId/$fname/$lname/$email"
      params={{ userId: user.id, fname: asSegment(user.fname), lname: asSegment(user.lname), email: asSegment(user.email) }}
      preload={false}
    >
      Update
    </LinkButton>
  )
}

/** A browser drops the path segments `.` and `..` however they are encoded, and an empty one matches no route. Only the id is read back. */
function asSegment(text: string): string {
  return ['', '.', '..'].includes(text) ? '-' : text
}

function DeleteButton({ user }: { user: DashboardUser }) {
  const confirm = useConfirm()

  const handleDelete = async () => {
    const message = `Are you sure you want to delete ${user.fname} ${user.lname} (${user.email})? Their sessions end at once.`
    if (!(await confirm({ title: 'Delete user', message, isDestructive: true }))) return
    try {
      const result = await client.users.remove({ id: user.id })
      toast.success(result.message || 'User Removed Successfully!')
    } catch (error) {
      toast.failure(asCallError(error).message)
    }
    await queryClient.invalidateQueries() // the figures of the dashboard count users, too
  }

  return (
    <RowActions>
      <Button variant="outline" color="red" size="compact-sm" onClick={() => void handleDelete()}>
        Delete
      </Button>
    </RowActions>
  )
}

/** The dashboard's users (§2 /manage-users): 50 a page, oneself left out by the server. */
import type { DashboardUser } from '@arcade/contract/accounts'
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api, asCallError, client, fetchSpreadsheet, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { type Column, DataTable, RowActions } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Page } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'

const DEFAULT_FILE_NAME = 'userdata.xlsx' // §7

const columns: readonly Column<DashboardUser>[] = [
  { header: 'Sr.No', render: (_, number) => number },
  { header: 'First Name', value: ({ fname }) => fname, viewMore: true },
  { header: 'Last Name', value: ({ lname }) => lname, viewMore: true },
  { header: 'Email', value: ({ email }) => email, viewMore: true },
  { header: 'Update', render: (user) => <UpdateButton user={user} /> },
  { header: 'Delete', render: (user) => <DeleteButton user={user} /> },
]

export function ManageUsersPage() {
  const { page = 1 } = useSearch({ from: '/shell/management/manage-users' })
  const navigate = useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.users.list.queryOptions({ input: { page }, placeholderData: keepPreviousData }),
  )
  const handlePageChange = (next: number) => void navigate({ to: '/manage-users', search: next > 1 ? { page: next } : {} })

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
        columns={columns}
        rows={data?.users}
        rowKey={({ id }) => id}
        emptyText="No other users yet."
        error={error && !data ? asCallError(error).message : undefined}
        onRetry={() => void refetch()}
        isStale={isPlaceholderData}
        paging={data && { page, pageSize: data.pageSize, pageCount: data.pageCount }}
        onPageChange={handlePageChange}
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

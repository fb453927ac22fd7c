import { playerList } from '@arcade/contract/players/fields'
import { type userFields, userList } from '@arcade/contract/users/fields'
import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { DataTable } from './data-table.tsx'
import { type Cells, listColumns } from './columns.tsx'

const fields = ['id', 'fname', 'lname', 'email', 'userType', 'role', 'createdAt', 'lastSeenAt', 'version'] as const
const none = Object.fromEntries(fields.map((name) => [name, false])) as Record<(typeof fields)[number], false>

test('Lists: a column takes its header and sort from its field; a column without a field takes its header from its key', () => {
  const columns = listColumns(userList, {
    ...none,
    fname: { viewMore: true },
    createdAt: { header: 'Sr.No' },
    Update: { render: () => null },
  })
  expect(columns).toMatchObject([
    { header: 'First Name', sort: 'first-name', isDescending: false, viewMore: true },
    { header: 'Sr.No', sort: 'created' },
    { header: 'Update' },
  ])
  expect(columns[2]).not.toHaveProperty('sort')
})

test('Lists: a column that is hidden at first is shown once it is chosen', async () => {
  const columns = listColumns(userList, { ...none, fname: {}, lastSeenAt: { missing: 'not known', isHiddenAtFirst: true } })
  const user = {
    id: 'a',
    fname: 'Ada',
    lname: '',
    email: '',
    role: null,
    userType: 'user',
    createdAt: '',
    lastSeenAt: null,
    version: 1,
  } as const
  const toolbar = { searchLabel: 'Search', search: '', onSearch: () => {} }
  render(<DataTable label="Users" columns={columns} rows={[user]} rowKey={({ id }) => id} emptyText="" toolbar={toolbar} />)
  await expect.element(page.getByRole('cell', { name: 'Ada' })).toBeVisible()
  await expect.element(page.getByRole('columnheader', { name: 'Last Seen' })).not.toBeInTheDocument()
  await page.getByRole('button', { name: 'View' }).click()
  await page.getByRole('checkbox', { name: 'Last Seen' }).click()
  await expect.element(page.getByRole('columnheader', { name: 'Last Seen' })).toBeVisible()
  await expect.element(page.getByText('not known')).toBeVisible()
  await page.getByRole('button', { name: 'Reset' }).click()
  await expect.element(page.getByRole('columnheader', { name: 'Last Seen' })).not.toBeInTheDocument()
})

test('Lists: columns keep the order in which the page declares them', () => {
  const { email: _email, fname: _fname, ...others } = none
  const columns = listColumns(userList, { email: {}, Delete: {}, fname: {}, ...others })
  expect(columns.map(({ header }) => header)).toEqual(['Email', 'Delete', 'First Name'])
})

const row = {
  firstName: null,
  lastName: 'Lovelace',
  username: 'ada',
  balance: 1234.5,
  userId: 7,
  createdAt: '2026-01-31T15:04:00.000Z',
  email: null,
  phoneNumber: null,
  twitterUsername: null,
  instagramUsername: null,
  linkedInUsername: null,
  discordUsername: null,
  youtubeUsername: null,
  tonWalletAddress: null,
  bscWallet: null,
}

test('§3 a field is shown by its kind: numbers at the end, timestamps as date and time, a missing value as its word', async () => {
  const missing = 'undefined'
  const hidden = Object.fromEntries(Object.keys(playerList.fields).map((name) => [name, false])) as Record<
    keyof typeof row,
    false
  >
  const columns = listColumns(playerList, { ...hidden, firstName: { missing }, balance: {}, createdAt: { missing } })
  const table = (rows: (typeof row)[]) => (
    <DataTable label="Players" columns={columns} rows={rows} rowKey={({ userId }) => userId} emptyText="" />
  )
  const show = render(table([row]))
  await expect.element(page.getByRole('cell', { name: 'undefined' })).toHaveTextContent('undefined')
  await expect.element(page.getByRole('cell', { name: '1,234.5' })).toHaveAttribute('data-align', 'end')
  await expect.element(page.getByRole('cell', { name: '01/31/2026 03:04 PM' })).toBeVisible()
  show(table([{ ...row, createdAt: null as unknown as string }]))
  await expect.element(page.getByRole('cell', { name: 'undefined' }).nth(1)).toBeVisible()
})

type WiderFields = typeof userFields & { country: { label: 'Country'; kind: 'text' } }

/** Type errors that tsc must report; it fails if one of them compiles. */
export const mistakes = () => [
  // @ts-expect-error -- a field of the entity is neither a column nor false
  listColumns(userList, { id: false, fname: {}, lname: {}, role: false, userType: false, createdAt: {}, version: false }),
  // @ts-expect-error -- an entity with an additional field
  none satisfies Cells<WiderFields>,
  // @ts-expect-error -- unknown property of a column
  listColumns(userList, { ...none, email: { heading: 'E-mail' } }),
]

test('§3 a value of which nothing can be seen is shown like a missing one', async () => {
  const columns = listColumns(userList, { ...none, fname: {}, lname: { missing: 'undefined' } })
  const user = { id: 'a', fname: 'Ada', lname: '\u3164\u200b' }
  render(<DataTable label="Users" columns={columns} rows={[user as never]} rowKey={() => 'a'} emptyText="" />)
  await expect.element(page.getByRole('cell', { name: 'undefined' })).toBeVisible()
})

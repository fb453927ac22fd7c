/** The messaging-app users, the players (§2 /manage-telegram-users): sorted, paged by cursors; sort, size and page are in the address. */
import { type TelegramUser, telegramUsersPageSizes, type TelegramUsersSort } from '@arcade/contract/telegram-users'
import { NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api, asCallError, fetchSpreadsheet } from '#src/client.ts'
import { type Column, DataTable, Missing } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { Page } from '#src/ui/page.tsx'
import type { TelegramUsersSearch } from './telegram-users-search.ts'
import classes from './telegram-users-page.module.css'

const DEFAULT_FILE_NAME = 'TelegramUserdata.xlsx' // §7
const DEFAULT_PAGE_SIZE = 5 // §9
const MISSING = 'undefined' // sic, §3
const sortLabels: Record<TelegramUsersSort, string> = { balance: 'Balance', 'a-z': 'A-Z' }

/** A column of a text; `viewMore` for what is often too long for its cell or worth copying. */
function text(header: string, value: (user: TelegramUser) => string | null, viewMore = false): Column<TelegramUser> {
  return { header, value, missing: MISSING, viewMore }
}

const columns: readonly Column<TelegramUser>[] = [
  text('First Name', ({ firstName }) => firstName, true),
  text('Last Name', ({ lastName }) => lastName, true),
  text('Username', ({ username }) => username, true),
  { header: 'Balance', render: ({ balance }) => <Balance amount={balance} />, align: 'end' },
  text('User ID', ({ userId }) => String(userId)),
  {
    header: 'Created At',
    render: ({ createdAt }) => (createdAt === null ? <Missing text={MISSING} /> : <Moment iso={createdAt} />),
  },
  text('Email', ({ email }) => email, true),
  text('Phone Number', ({ phoneNumber }) => phoneNumber),
  text('Twitter Username', ({ twitterUsername }) => twitterUsername),
  text('Instagram Username', ({ instagramUsername }) => instagramUsername),
  text('LinkedIn Username', ({ linkedInUsername }) => linkedInUsername),
  text('Discord Username', ({ discordUsername }) => discordUsername),
  text('Youtube Username', ({ youtubeUsername }) => youtubeUsername),
  text('TON Wallet Address', ({ tonWalletAddress }) => tonWalletAddress, true),
  text('BSC Wallet', ({ bscWallet }) => bscWallet, true),
]

export function TelegramUsersPage() {
  const {
    sort = 'balance',
    size = DEFAULT_PAGE_SIZE,
    page = 1,
    after,
    before,
  } = useSearch({ from: '/shell/management/manage-telegram-users' })
  const navigate = useNavigate()
  const input = { sort, pageSize: size, ...(after !== undefined && { after }), ...(before !== undefined && { before }) }
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.telegramUsers.list.queryOptions({ input, placeholderData: keepPreviousData }),
  )
  // A cursor in an old address may not be one any more; the first page always is.
  const isLost = error !== null && asCallError(error).code === 'INVALID_INPUT'

  const show = (search: TelegramUsersSearch) => void navigate({ to: '/manage-telegram-users', search })
  const list: TelegramUsersSearch = { ...(sort !== 'balance' && { sort }), ...(size !== DEFAULT_PAGE_SIZE && { size }) }

  /** §4: Previous does nothing on page 1, Next nothing without a last-document cursor; both wait for a page on its way. */
  const handlePageChange = (next: number) => {
    if (!data || isPlaceholderData) return
    if (next > page && data.after !== null) show({ ...list, page: next, after: data.after })
    if (next >= page || page === 1) return
    // Page 1 is wherever the list begins now.
    show(next > 1 && data.before !== null ? { ...list, page: next, before: data.before } : list)
  }

  return (
    <Page
      title="Telegram Users"
      actions={
        <DownloadButton
          id="telegram-users"
          label="Download User Data"
          start={(options) => fetchSpreadsheet('telegramUsers', {}, { ...options, fallbackName: DEFAULT_FILE_NAME })}
          successText="Data Downloaded Successfuly!" // sic, §8
          failureText={(problem) =>
            asCallError(problem).code === 'UNAVAILABLE' ? asCallError(problem).message : 'Error Downloading Data!'
          }
        />
      }
    >
      <div className={classes['list']}>
        <div className={classes['choices']}>
          <NativeSelect
            label="Sort By"
            value={sort}
            data={Object.entries(sortLabels).map(([value, label]) => ({ value, label }))}
            onChange={({ target }) => show({ ...list, sort: target.value as TelegramUsersSort })}
          />
          <NativeSelect
            label="Page Size"
            value={String(size)}
            data={telegramUsersPageSizes.map(String)}
            onChange={({ target }) => show({ ...list, size: Number(target.value) as typeof size })}
          />
          <p className={classes['total']}>
            {data ? `${data.total.toLocaleString('en-US')} ${data.total === 1 ? 'user' : 'users'}` : ' '}
          </p>
        </div>
        <DataTable
          label="Telegram Users"
          columns={columns}
          rows={data?.users}
          rowKey={({ userId }) => userId}
          emptyText="No Telegram users yet."
          error={error && (!data || isLost) ? asCallError(error).message : undefined}
          onRetry={() => (isLost ? show(list) : void refetch())}
          isStale={isPlaceholderData}
          paging={data && { page, pageSize: data.pageSize, pageCount: Math.max(data.pageCount, page) }}
          onPageChange={handlePageChange}
          pager="prev-next"
          canPage={{ previous: page > 1, next: data?.after != null }}
        />
      </div>
    </Page>
  )
}

/** `1,234,567.5` to look at, `1234567.5` to copy. */
function Balance({ amount }: { amount: number }) {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(String(amount)) ?? []
  const groups = whole.match(/\d{1,3}(?=(?:\d{3})*$)/g) ?? []
  return (
    <span className={classes['balance']}>
      {sign}
      {groups.map((group, index) => (
        <span key={groups.length - index}>{group}</span>
      ))}
      {rest}
    </span>
  )
}

const datePart = new Intl.DateTimeFormat('en-US', { year: 'numeric', month: '2-digit', day: '2-digit' })
const timePart = new Intl.DateTimeFormat('en-US', { hour: '2-digit', minute: '2-digit', hour12: true })

/** §3: `MM/dd/yyyy` and `hh:mm a`, in the operator's time zone. */
function Moment({ iso }: { iso: string }) {
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={iso} className={classes['moment']}>
      {datePart.format(date)} {timePart.format(date).replace('\u202f', ' ')}
    </time>
  )
}

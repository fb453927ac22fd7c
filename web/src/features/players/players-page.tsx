/**
 * Players (§2 /manage-telegram-users): the 15 fields of §3, by balance or first name, in pages by cursor (§7, §9); searched, filtered,
 * sorted, picked. Everything that says which page it is stands in the address.
 */
import { type Player, type PlayersFilter, playersPageSizes, type PlayersSort } from '@arcade/contract/entities/player'
import { NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api, asCallError, fetchSpreadsheet } from '#src/client.ts'
import { type Column, DataTable, Missing } from '#src/ui/data-table.tsx'
import { DownloadButton } from '#src/ui/download.tsx'
import { defined, listControls } from '#src/ui/list-search.ts'
import type { Filter, FilterValue } from '#src/ui/list-toolbar.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Page } from '#src/ui/page.tsx'
import { useSelection } from '#src/ui/selection.tsx'
import { Balance } from './balance.tsx'
import { filterOf, type PlayersSearch } from './players-search.ts'
import classes from './players-page.module.css'

const DEFAULT_FILE_NAME = 'TelegramUserdata.xlsx' // §7
const DEFAULT_PAGE_SIZE = 5 // §9
const MISSING = 'undefined' // sic, §3

const sortLabels: Record<PlayersSort, string> = {
  balance: 'Balance',
  'a-z': 'A-Z',
  newest: 'Newest',
  'user-id': 'User ID',
  username: 'Username',
}
const ownSorts: readonly PlayersSort[] = ['balance', 'a-z'] // §2; the headers offer the others

const filters: readonly Filter[] = [
  { name: 'balanceMin', label: 'Balance from', kind: 'number' },
  { name: 'balanceMax', label: 'Balance to', kind: 'number' },
  { name: 'joinedFrom', label: 'Joined from', kind: 'day' },
  { name: 'joinedUntil', label: 'Joined until', kind: 'day' },
  {
    name: 'wallet',
    label: 'Wallet',
    kind: 'choice',
    options: [
      { value: 'any', label: 'Has a wallet' },
      { value: 'ton', label: 'Has a TON wallet' },
      { value: 'bsc', label: 'Has a BSC wallet' },
      { value: 'none', label: 'Has none' },
    ],
  },
]

/** A column of a text; `viewMore` for what is often too long for its cell or worth copying. */
function text(header: string, value: (user: Player) => string | null, viewMore = false): Column<Player> {
  return { header, value, missing: MISSING, viewMore }
}

/** `list` is what the player's page goes back and forth in. */
function columnsOf(list: PlayersSearch): readonly Column<Player>[] {
  return [
    { ...text('First Name', ({ firstName }) => firstName, true), sort: 'a-z' },
    text('Last Name', ({ lastName }) => lastName, true),
    { ...text('Username', ({ username }) => username, true), sort: 'username' },
    {
      header: 'Balance',
      render: ({ balance }) => <Balance amount={balance} />,
      align: 'end',
      sort: 'balance',
      isDescending: true,
    },
    {
      header: 'User ID',
      render: ({ userId }) => (
        <Link
          to="/manage-telegram-users/$userId"
          params={{ userId: String(userId) }}
          search={list}
          className={classes['player']}
          preload={false}
        >
          {userId}
        </Link>
      ),
      sort: 'user-id',
    },
    {
      header: 'Created At',
      render: ({ createdAt }) => (createdAt === null ? <Missing text={MISSING} /> : <Moment iso={createdAt} />),
      sort: 'newest',
      isDescending: true,
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
}

export function PlayersPage() {
  const search = useSearch({ from: '/shell/management/manage-telegram-users' })
  const { sort = 'balance', reversed = false, size = DEFAULT_PAGE_SIZE, page = 1, after, before, ...rest } = search
  const { balanceMin, balanceMax, joinedFrom, joinedUntil, wallet } = rest
  const navigate = useNavigate()
  const filter = filterOf(search)
  const input = { ...filter, sort, reversed, pageSize: size, ...defined({ after, before }) }
  const { data, error, isPlaceholderData, refetch } = useQuery(
    api.players.list.queryOptions({ input, placeholderData: keepPreviousData }),
  )
  // A long list that was filtered is counted apart, so that its rows need not wait.
  const isUncounted = data?.total === null && !isPlaceholderData
  const counted = useQuery(api.players.count.queryOptions({ input: filter, enabled: isUncounted }))
  const total = data?.total ?? (isUncounted ? counted.data?.total : undefined)
  const pageCount = total === undefined ? undefined : Math.max(1, Math.ceil(total / size), page)
  const selection = useSelection<PlayersFilter>('telegram-users', filter)
  // A cursor in an old address may not be one any more; the first page always is.
  const isLost = error !== null && asCallError(error).code === 'INVALID_INPUT'

  const show = (next: PlayersSearch, replace = false) =>
    void navigate({ to: '/manage-telegram-users', search: defined(next), replace })
  const listKey = JSON.stringify({ ...search, page: undefined, after: undefined, before: undefined })
  const list = useMemo(() => JSON.parse(listKey) as PlayersSearch, [listKey])
  const columns = useMemo(() => columnsOf(list), [list])
  const controls = listControls<PlayersSearch, Record<string, FilterValue>>({
    search,
    ownSort: 'balance',
    values: { balanceMin, balanceMax, joinedFrom, joinedUntil, wallet },
    show: (next, replace) => show({ ...list, ...next }, replace),
  })

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
          start={(options) => fetchSpreadsheet('players', {}, { ...options, fallbackName: DEFAULT_FILE_NAME })}
          successText="Data Downloaded Successfuly!" // sic, §8
          failureText={failureText}
        />
      }
    >
      <DataTable
        label="Telegram Users"
        columns={columns}
        toolbar={{
          ...controls.toolbar,
          searchLabel: 'Search players',
          filters,
          children: (
            <>
              <NativeSelect
                label="Sort By"
                value={sort}
                data={[...new Set<PlayersSort>([...ownSorts, sort])].map((value) => ({ value, label: sortLabels[value] }))}
                onChange={({ target }) => controls.sorting.onSort(target.value, false)}
              />
              <NativeSelect
                label="Page Size"
                value={String(size)}
                data={playersPageSizes.map(String)}
                onChange={({ target }) => show({ ...list, size: Number(target.value) as typeof size })}
              />
              <p className={classes['total']}>
                {data
                  ? total === undefined
                    ? 'Counting…'
                    : `${total.toLocaleString('en-US')} ${total === 1 ? 'user' : 'users'}`
                  : ' '}
              </p>
            </>
          ),
        }}
        sorting={controls.sorting}
        picking={{
          selection,
          total,
          actions: (
            <DownloadButton
              id="telegram-users selection"
              label="Download Selection"
              size="compact-md"
              start={(options) =>
                fetchSpreadsheet(
                  'selection',
                  { list: 'telegramUsers', target: selection.target },
                  { ...options, fallbackName: DEFAULT_FILE_NAME },
                )
              }
              successText="Data Downloaded Successfuly!" // sic, §8
              failureText={failureText}
            />
          ),
        }}
        rows={data?.users}
        rowKey={({ userId }) => userId}
        emptyText={Object.keys(filter).length === 0 ? 'No Telegram users yet.' : 'No player matches.'}
        error={error && (!data || isLost) ? asCallError(error).message : undefined}
        onRetry={() => (isLost ? show(list) : void refetch())}
        isStale={isPlaceholderData}
        paging={data && { page, pageSize: data.pageSize, pageCount }}
        onPageChange={handlePageChange}
        pager="prev-next"
        canPage={{ previous: page > 1, next: data?.after != null }}
      />
    </Page>
  )
}

function failureText(problem: unknown): string {
  const { code, message } = asCallError(problem)
  return code === 'UNAVAILABLE' ? message : 'Error Downloading Data!'
}

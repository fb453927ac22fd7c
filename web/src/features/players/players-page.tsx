/** The list of players (§2 /manage-telegram-users): the 15 fields of §3, sorted by balance or first name, paged by cursor (§7, §9). */
import { isErased, type Player, playerList, playerName } from '@arcade/contract/players/fields'
import { isBlank } from '@arcade/contract/text'
import { IconBan, IconUserOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { createContext, use, useMemo } from 'react'
import { api } from '#src/client/client.ts'
import { listColumns } from '#src/lists/columns.tsx'
import { ExportAllButton } from '#src/lists/export-buttons.tsx'
import { listCursor, listFilter, listOrder } from '#src/lists/list-address.ts'
import { ListTable, PageSizeField, SortSelect } from '#src/lists/list-table.tsx'
import { usePageSize } from '#src/lists/page-size.ts'
import { PlayerLink } from '#src/lists/player-link.tsx'
import { useCounts } from '#src/lists/use-counts.ts'
import { asListed, type ListState, useList } from '#src/lists/use-list.ts'
import { Marked, Missing } from '#src/lists/table-cells.tsx'
import { Page } from '#src/ui/page.tsx'
import { useIsPhone } from '#src/ui/window-width.ts'
import { RowMark } from '#src/lists/row-mark.tsx'
import { Balance } from './balance.tsx'
import { BlockButtons } from './block-buttons.tsx'
import classes from './players-page.module.css'

const missing = 'undefined' // sic, §3
const handle = { width: 8.5, grow: 1, card: 'fold' } as const
const wallet = { width: 9, grow: 3, card: 'fold' } as const

/** Texts that are often too long for their cell, or worth copying, open View More. */
const columns = listColumns(playerList, {
  firstName: { render: (player) => <FirstName {...player} />, width: 7.5, grow: 2, card: 'title' },
  lastName: { missing, viewMore: true, width: 7, grow: 2, card: 'fold' },
  username: { missing, viewMore: true, width: 8, grow: 2, card: 'start' },
  balance: { render: ({ balance }) => <Balance amount={balance} />, align: 'end', width: 6.75, card: 'start' },
  userId: {
    render: ({ userId }) => <PlayerPageLink userId={userId} text={String(userId)} />,
    width: 6,
    card: 'start',
  },
  createdAt: { missing, width: 10, card: 'fold' },
  email: { missing, viewMore: true, width: 14, grow: 3, card: 'fold' },
  phoneNumber: { missing, width: 8, card: 'fold' },
  twitterUsername: { missing, ...handle },
  instagramUsername: { missing, ...handle },
  linkedInUsername: { missing, ...handle },
  discordUsername: { missing, ...handle },
  youtubeUsername: { missing, ...handle },
  tonWalletAddress: { missing, viewMore: true, ...wallet },
  bscWallet: { missing, viewMore: true, ...wallet },
})

export function PlayersPage() {
  const address = useSearch({ from: '/shell/management/manage-telegram-users' })
  const filter = listFilter(playerList, address)
  const pageSize = usePageSize(playerList, address)
  const input = { ...filter, ...listOrder(playerList, address), ...listCursor(address), pageSize }
  const query = useQuery(api.players.list.queryOptions({ input, ...asListed }))
  const { counted, everyone } = useCounts(
    (of: typeof filter & { exact?: true }) => api.players.count.queryOptions({ input: of }),
    filter,
    query,
  )
  const state = useList(playerList, { address, query, rowsOf: ({ users }) => users, counted })
  const { options } = useRouter()
  const isPhone = useIsPhone()
  const shown = useMemo(
    () => ({ blocked: new Set(query.data?.blocked), search: options.stringifySearch(address), isPhone }),
    [query.data, options, address, isPhone],
  )
  return (
    <Page isList title="Telegram Users" actions={<ExportAllButton state={state} call="players" everyone={everyone} />}>
      <div className={classes['list']}>
        <Shown value={shown}>
          <ListTable
            label="Telegram Users"
            state={state}
            columns={columns}
            rowKey={({ userId }) => userId}
            actsNeed="players.block"
            acts={<BlockButtons selection={state.selection} />}
            toolbar={
              <>
                <SortField state={state} />
                <PageSizeField state={state} />
              </>
            }
          />
        </Shown>
      </div>
    </Page>
  )
}

type PlayersState = ListState<typeof playerList, unknown>
const specifiedSorts = ['balance', 'a-z'] as const // §2; the column headers offer the other sorts

function SortField({ state }: { state: PlayersState }) {
  const { sort } = listOrder(playerList, state.address)
  if (useIsPhone()) return null // the sheet of a phone offers all orders
  return <SortSelect state={state} offered={[...new Set([...specifiedSorts, sort])]} />
}

interface ShownPlayers {
  /** The ids of the page's blocked players. */
  blocked: ReadonlySet<number>
  /** The list's search parameters. A player's page gets them, so that it can link to the previous and next player. */
  search: string
  isPhone: boolean
}

const Shown = createContext<ShownPlayers>({ blocked: new Set(), search: '', isPhone: false })

/** The first name; as the title of a phone's card the whole name, if there is a first one. */
function FirstName(player: Player) {
  const { userId, firstName } = player
  const { blocked, isPhone } = use(Shown)
  const isBlocked = blocked.has(userId)
  return (
    <Marked
      mark={
        isErased({ userId }) ? (
          <RowMark icon={IconUserOff} label="Erased" />
        ) : (
          isBlocked && <RowMark icon={IconBan} label="Blocked" isWarning />
        )
      }
    >
      <PlayerPageLink userId={userId} text={isPhone && !isBlank(firstName) ? playerName(player) : firstName} />
    </Marked>
  )
}

function PlayerPageLink({ userId, text }: { userId: number; text: string | null }) {
  const { search } = use(Shown)
  if (text === null || isBlank(text)) return <Missing text={missing} />
  return (
    <PlayerLink userId={userId} search={search}>
      {text}
    </PlayerLink>
  )
}

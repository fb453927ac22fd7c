/**
 * The data of a player's page and how it stays up to date: the player, the ledger and the time line. Of the ledger and the time line only
 * the newest rows are reloaded.
 */
import type { ExplainedEntry } from '@arcade/contract/balances/calls'
import type { PlayerParticipation } from '@arcade/contract/players/calls'
import type { InfiniteData } from '@tanstack/react-query'
import { api, client, queryClient } from '#src/client/client.ts'
import { useLive } from '#src/lists/live.ts'

export function entriesOf(userId: number) {
  return api.balances.entries.infiniteOptions({
    input: (after: string | undefined) => ({ userId, ...(after !== undefined && { after }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ after }) => after ?? undefined,
  })
}

export function participationsOf(userId: number) {
  return api.players.participations.infiniteOptions({
    input: (after: string | undefined) => ({ userId, ...(after !== undefined && { after }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ after }) => after ?? undefined,
  })
}

export function participationKey({ kind, id, period }: PlayerParticipation): string {
  return `${kind} ${id} ${period}`
}

/** Keeps the page up to date once `isLoaded`. */
export function useLivePlayer(userId: number, isLoaded: boolean): void {
  useLive('player', isLoaded ? { player: userId } : undefined, {
    isCurrent(now) {
      const player = queryClient.getQueryData(api.players.get.queryKey({ input: { userId } }))
      const newest = queryClient.getQueryData(entriesOf(userId).queryKey)?.pages[0]?.entries[0]
      if (now === null) return true
      const isBlockShown = (player?.block?.at ?? null) === now.blockedAt
      return isBlockShown && player?.balance === now.balance && (newest?.seq ?? 0) === now.entries
    },
    refresh: () => refreshPlayer(userId),
  })
}

/** Reloads all that a new ledger entry or a block changes on the page. */
export async function refreshPlayer(userId: number): Promise<void> {
  const input = { input: { userId } }
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: api.players.get.queryKey(input) }, { cancelRefetch: false }),
    queryClient.invalidateQueries({ queryKey: api.players.standing.queryKey(input) }, { cancelRefetch: false }),
    refreshNewest(entriesOf(userId).queryKey, {
      load: () => client.balances.entries({ userId }),
      rows: ({ entries }) => entries,
      withRows: (page, entries: ExplainedEntry[]) => ({ ...page, entries }),
      keyOf: ({ seq }) => seq,
    }),
    refreshNewest(participationsOf(userId).queryKey, {
      load: () => client.players.participations({ userId }),
      rows: ({ participations }) => participations,
      withRows: (page, participations: PlayerParticipation[]) => ({ ...page, participations }),
      keyOf: participationKey,
    }),
  ])
}

interface Pages<Page, Row> {
  /** The first page. */
  load: () => Promise<Page>
  rows: (page: Page) => Row[]
  withRows: (page: Page, rows: Row[]) => Page
  keyOf: (row: Row) => string | number
}

/**
 * Loads the first page and puts its new rows before the cached rows, so that the pages already loaded stay. If the new page has no row in
 * common with the first cached page, rows in between may be missing: it then replaces all pages. If nothing is cached, or the page cannot be
 * loaded, the query is loaded instead, which is tried again.
 */
async function refreshNewest<Page, Row>(queryKey: readonly unknown[], { load, rows, withRows, keyOf }: Pages<Page, Row>) {
  if (!queryClient.getQueryData(queryKey)) return queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false })
  const newest = await load().catch(() => undefined)
  if (!newest) return queryClient.invalidateQueries({ queryKey })
  const keys = new Set(rows(newest).map(keyOf))
  queryClient.setQueryData<InfiniteData<Page>>(queryKey, (shown) => {
    const [first, ...others] = shown?.pages ?? []
    const older = first && rows(first).filter((row) => !keys.has(keyOf(row)))
    if (!shown || !first || !older || older.length === rows(first).length) return { pages: [newest], pageParams: [undefined] }
    return { ...shown, pages: [withRows(first, [...rows(newest), ...older]), ...others] }
  })
}

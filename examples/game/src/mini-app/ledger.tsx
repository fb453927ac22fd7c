/** The player's ledger entries, newest first, and the leaderboard. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { LedgerEntry } from '@arcade/contract/ledger/calls'
import { isBlank, isolated } from '@arcade/contract/text'
import { format } from '#src/format.ts'
import { consoleClient } from './api.ts'
import { announcements, dailyTasks, socialTasks } from './items.ts'

const TOP = 10

export function Ledger() {
  const entries = useInfiniteQuery({
    queryKey: ['entries'],
    queryFn: async ({ pageParam }) => (await consoleClient).entries({ userId: 'me', ...(pageParam && { after: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ after }) => after ?? undefined,
  })
  const titles = useTitles()
  const top = useQuery({ queryKey: ['top'], queryFn: async () => (await consoleClient).leaderboard({ limit: TOP }) })
  return (
    <>
      <section>
        <h2>Ledger</h2>
        {entries.error && <p role="alert">{entries.error.message}</p>}
        {entries.data?.pages[0]?.entries.length === 0 && <p className="hint">Nothing yet: play a round.</p>}
        <ol className="rows">
          {entries.data?.pages
            .flatMap((page) => page.entries)
            .map((entry) => (
              <li key={entry.id}>
                <span>
                  {isolated(titles.get(entry.item?.id) ?? nameOf(entry))}
                  <small className="hint">{new Date(entry.at).toLocaleString()}</small>
                </span>
                <strong>
                  {entry.amount > 0 && '+'}
                  {format(entry.amount)}
                </strong>
                <span className="hint">{format(entry.balance)}</span>
              </li>
            ))}
        </ol>
        {entries.hasNextPage && (
          <button type="button" onClick={() => void entries.fetchNextPage()}>
            Earlier
          </button>
        )}
      </section>
      <section>
        <h2>Top players</h2>
        <ol className="rows">
          {top.data?.players.map(({ rank, userId, firstName, username, balance }) => (
            <li key={userId}>
              <span>
                {rank}. {isolated([firstName, username].find((name) => !isBlank(name)) ?? 'Somebody')}
              </span>
              <strong>{format(balance)}</strong>
            </li>
          ))}
        </ol>
      </section>
    </>
  )
}

/** Returns the titles of all current items, by id. */
function useTitles(): Map<string | undefined, string> {
  const [news, social, daily] = [useQuery(announcements), useQuery(socialTasks), useQuery(dailyTasks)]
  const items = [...(news.data?.announcements ?? []), ...(social.data?.tasks ?? []), ...(daily.data?.tasks ?? [])]
  return new Map(items.map(({ id, title }) => [id, title]))
}

function nameOf({ cause, item }: LedgerEntry): string {
  return item === undefined ? (causes[cause] ?? cause) : kinds[item.kind]
}

const kinds = { social: 'Social task', daily: 'Daily task', announcement: 'Announcement' }
/** Labels of the console's own causes and of this game's cause. */
const causes: Record<string, string> = {
  opening: 'Brought along',
  import: 'Brought along',
  round: 'Round',
  adjustment: 'From the operators',
  reversal: 'Taken back',
}

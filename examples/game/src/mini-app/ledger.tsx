/** What the balance is made of, newest first, and who has the most. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { desk } from './api.ts'
import { format } from './format.ts'

const TOP = 10

export function Ledger() {
  const entries = useInfiniteQuery({
    queryKey: ['entries'],
    queryFn: async ({ pageParam }) => (await desk).entries({ userId: 'me', ...(pageParam && { after: pageParam }) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ after }) => after ?? undefined,
  })
  const top = useQuery({ queryKey: ['top'], queryFn: async () => (await desk).leaderboard({ limit: TOP }) })
  return (
    <>
      <section>
        <h2>Ledger</h2>
        {entries.error && <p role="alert">{entries.error.message}</p>}
        {entries.data?.pages[0]?.entries.length === 0 && <p className="hint">Nothing yet: play a round.</p>}
        <ol className="rows">
          {entries.data?.pages
            .flatMap((page) => page.entries)
            .map(({ id, amount, cause, balance, at }) => (
              <li key={id}>
                <span>
                  {causes[cause] ?? cause} <small className="hint">{new Date(at).toLocaleString()}</small>
                </span>
                <strong>
                  {amount > 0 && '+'}
                  {format(amount)}
                </strong>
                <span className="hint">{format(balance)}</span>
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
                {rank}. {firstName ?? username ?? 'Somebody'}
              </span>
              <strong>{format(balance)}</strong>
            </li>
          ))}
        </ol>
      </section>
    </>
  )
}

const causes: Record<string, string> = {
  opening: 'Brought along',
  import: 'Brought along',
  claim: 'Task',
  play: 'Round',
  adjustment: 'From the operators',
  reversal: 'Taken back',
}

/** What a page could not read because the server was out of reach is asked for again by itself (docs/operations.md). */
import { type Query, useQuery } from '@tanstack/react-query'
import { client, queryClient } from '#src/client.ts'
import { isOutOfReach } from './server-answer.ts'

const LOOK_EVERY_MS = 3000
const LONGEST_WAIT_MS = 30_000

const waiting = {
  type: 'active',
  predicate: ({ state: { error, errorUpdatedAt, errorUpdateCount } }: Query) =>
    isOutOfReach(error) &&
    // A call that fails again and again on a server that is back is asked for less and less often.
    Date.now() - errorUpdatedAt >= Math.min(LONGEST_WAIT_MS, LOOK_EVERY_MS * 2 ** (errorUpdateCount - 1)),
} as const

/** Asks again while the page is visible. The session is asked for first, because a query says that it loads whenever it is tried. */
export function useAskingAgain(): void {
  useQuery({
    queryKey: ['asking again'],
    queryFn: async () => {
      if (queryClient.getQueryCache().findAll(waiting).length === 0) return null
      return client.auth.session().then(
        () => queryClient.refetchQueries(waiting).then(() => null),
        () => null, // the page still says so
      )
    },
    refetchInterval: LOOK_EVERY_MS,
    refetchOnReconnect: 'always',
    notifyOnChangeProps: [], // it draws nothing
  })
}

/** Retries queries that failed because the server could not be reached (docs/operations.md). */
import { type Query, useQuery } from '@tanstack/react-query'
import { client, queryClient } from '#src/client/client.ts'
import { isOutOfReach } from './server-answer.ts'

const RETRY_EVERY_MS = 3000
const MAX_WAIT_MS = 30_000

const unreachedQueries = {
  type: 'active',
  predicate: ({ state: { error, errorUpdatedAt, errorUpdateCount } }: Query) =>
    isOutOfReach(error) &&
    // Exponential backoff for a query that keeps failing although the server is back.
    Date.now() - errorUpdatedAt >= Math.min(MAX_WAIT_MS, RETRY_EVERY_MS * 2 ** (errorUpdateCount - 1)),
} as const

/** Retries while the page is visible. It checks the session first, because each retry shows the query as loading. */
export function useQueryRetry(): void {
  useQuery({
    queryKey: ['query retry'],
    queryFn: async () => {
      if (queryClient.getQueryCache().findAll(unreachedQueries).length === 0) return null
      return client.auth.session().then(
        () => queryClient.refetchQueries(unreachedQueries).then(() => null),
        () => null, // the page still shows the error
      )
    },
    refetchInterval: RETRY_EVERY_MS,
    refetchOnReconnect: 'always',
    notifyOnChangeProps: [], // it renders nothing
  })
}

/** Kysely on one connection, for those that work outside the pool. */
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import type { QueryResult } from 'pg'

/** Gives Kysely as much of a pool as it asks for. */
export function kyselyOn<Tables>(query: (text: string, params: readonly unknown[]) => Promise<QueryResult>): Kysely<Tables> {
  const pool = { connect: async () => ({ query, release: () => undefined }), end: async () => undefined }
  return new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }) })
}

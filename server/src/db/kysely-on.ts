/** Kysely on a single connection outside the pool. */
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import type { QueryResult } from 'pg'

/** Wraps a connection in the part of a pool's interface that Kysely uses. */
export function kyselyOn<Tables>(query: (text: string, params: readonly unknown[]) => Promise<QueryResult>): Kysely<Tables> {
  const pool = { connect: async () => ({ query, release: () => undefined }), end: async () => undefined }
  return new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }) })
}

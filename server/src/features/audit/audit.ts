/** The calls that read the audit (security.md, Operations): the list of all entries, and the history of one record. */
import { sql } from 'kysely'
import type { RecordEntry } from '@arcade/contract/audit/calls'
import type { contract } from '@arcade/contract/contract'
import type { AuditEntry, RecordKind } from '@arcade/contract/audit/fields'
import { playerName } from '@arcade/contract/players/fields'
import { recordPermissions } from '@arcade/contract/team/records'
import { type Handlers, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import { cursorList } from '#src/lists/cursor-list.ts'
import { isId, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { servedAudit } from './audit-list.ts'

const RECORD_PAGE_SIZE = 50 // §9

export function auditHandlers({ database }: { database: Database }): Handlers<typeof contract.audit> {
  const list = cursorList(database, servedAudit)

  return {
    async list(query, context) {
      const { rows: entries, markedIds: ofPlayers, ...page } = await list.page(query, context)
      return { entries, playerNames: ofPlayers ? await namesOfPlayers(entries.text) : {}, ...page }
    },

    count: ({ exact, ...filter }, context) => list.count(filter, context, { isExact: exact }),
    async ofRecord({ kind, id, after }, context) {
      refuseWithoutPermission(['audit.read', recordPermissions[kind].read], signedIn(context))
      return readRecord(kind, id, after)
    },
  }

  /** Returns the names of the players whom the entries, as JSON, do not name. */
  async function namesOfPlayers(entries: string): Promise<Record<string, string>> {
    const unnamed = (JSON.parse(entries) as AuditEntry[]).filter(
      ({ recordKind, recordName }) => recordKind === 'player' && !recordName,
    )
    const ids = [...new Set(unnamed.map(({ recordId }) => Number(recordId)))].filter((id) => Number.isSafeInteger(id))
    if (ids.length === 0) return {}
    const players = await database.reads.rows(
      database.db
        .selectFrom('telegram_users')
        .select(['user_id as userId', 'first_name as firstName', 'last_name as lastName', 'username'])
        .where('user_id', 'in', ids),
    )
    return Object.fromEntries(players.map((player) => [player.userId, playerName(player)]))
  }

  async function readRecord(
    kind: RecordKind,
    id: string,
    after: string | undefined,
  ): Promise<{ entries: RecordEntry[]; after: string | null }> {
    const cursorScope = `audit:${kind}:${id}`
    const [before] = after === undefined ? [] : readCursor<[number]>(after, cursorScope, [isId])
    const { rows } = await sql<RecordEntry>`
      select seq, ${sql.raw(isoSql('at'))} as at, actor_name as "actorName", actor_kind as "actorKind", action,
             changes::text as changes, detail::text as detail
        from audit_trail where record_kind = ${kind} and record_id = ${id} and seq < ${before ?? Number.MAX_SAFE_INTEGER}
       order by seq desc limit ${RECORD_PAGE_SIZE + 1}`.execute(database.db)
    const page = keysetPage(rows, {
      size: RECORD_PAGE_SIZE,
      direction: before === undefined ? undefined : 'after',
      toCursor: ({ seq }) => writeCursor([cursorScope, seq]),
    })
    return { entries: [...page.rows], after: page.after }
  }
}

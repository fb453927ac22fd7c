/**
 * Bot tokens: bearer credentials of the game's bot, shown once and stored as SHA-256. A token has a scope, a second valid secret
 * while it is being rotated, and the time of each secret's last use. Hides the table and the cache; other processes learn of changes by NOTIFY.
 */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { BotToken } from '@arcade/contract/bot-tokens/calls'
import type { AuditAction } from '@arcade/contract/audit/fields'
import type { BotScope } from '@arcade/contract/bot-tokens/fields'
import { type Act, audit } from '#src/audit/audit.ts'
import { type Bot, Failure } from '#src/calls.ts'
import { aToZSql, idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { createCredentialCache, type InTurn } from './credential-cache.ts'
import { hashToken, newToken } from './tokens.ts'

const PREFIX = 'arcade_' // lets secret scanners and people recognise a leaked token
const CHANNEL = 'bot_tokens'
/** The shortest interval at which the last use of a token is stored: once each time that a process looks the token up. */
const USED_EVERY_SECONDS = 60

export interface BotTokens {
  /** Returns the bot that a bearer token belongs to, or `undefined` if the token is unknown or revoked. */
  find(token: string, inTurn?: InTurn): Promise<Bot | undefined>
  /** Makes this process forget a token. Call it after a change; other processes are notified. */
  changed: (id: string) => void
}

export async function createBotTokens(database: Database): Promise<BotTokens> {
  const find = database.prepared<Bot & { isPrevious: boolean }>(
    'bot-token',
    `select id, name, scope, token_hash <> $1 as "isPrevious" from bot_tokens where token_hash = $1 or previous_hash = $1`,
  )
  const cache = await createCredentialCache<Bot>(database, {
    channel: CHANNEL,
    async load(hash) {
      const [row] = await find([hash])
      if (!row) return undefined
      const { isPrevious, ...owner } = row
      void writeUse(database.db, owner.id, isPrevious ? 'previous_used_at' : 'last_used_at')
      return { owner }
    },
  })
  return {
    async find(token, inTurn) {
      if (!token.startsWith(PREFIX) || token.length !== PREFIX.length + 43) return undefined
      return cache.find(hashToken(token), inTurn)
    },
    changed: cache.forget,
  }
}

/** Stores the time of the last use. A failure, such as a full disk, must not fail the request. */
async function writeUse(db: Kysely<Tables>, id: string, column: 'last_used_at' | 'previous_used_at'): Promise<void> {
  await sql`update bot_tokens set ${sql.ref(column)} = now()
    where id = ${id} and (${sql.ref(column)} between now() - make_interval(secs => ${USED_EVERY_SECONDS}) and now()) is not true`
    .execute(db)
    .catch(() => {})
}

/** Returns all tokens by name, without their secrets. */
export async function listBotTokens({ db }: Pick<Database, 'db'>): Promise<BotToken[]> {
  const rows = await db
    .selectFrom('bot_tokens')
    .select(['id', 'name', 'scope', 'created_at', 'rotated_at', 'last_used_at', 'previous_used_at'])
    .select(sql<boolean>`previous_hash is not null`.as('hasPrevious'))
    .orderBy(sql.raw(aToZSql('name')))
    .orderBy(sql.raw(idOrderSql('id')))
    .execute()
  return rows.map(({ id, name, scope, hasPrevious, ...row }) => ({
    id,
    name,
    scope,
    createdAt: row.created_at.toISOString(),
    rotatedAt: isoOf(row.rotated_at),
    lastUsedAt: isoOf(row.last_used_at),
    previous: hasPrevious ? { lastUsedAt: isoOf(row.previous_used_at) } : null,
  }))
}

function isoOf(moment: Date | null): string | null {
  return moment?.toISOString() ?? null
}

/** Makes a token for a bot called `name` and returns it; it cannot be read again. A name in use violates `bot_tokens_name_key`. */
export async function createBotToken(
  database: Database,
  act: Act,
  { name, scope }: { name: string; scope: BotScope },
): Promise<{ id: string; token: string }> {
  const { token, hash } = newSecret()
  const id = randomUUID()
  await database.transaction(async (tx) => {
    await tx.insertInto('bot_tokens').values({ id, name, scope, token_hash: hash }).execute()
    await audit(tx, act, 'token.create', { record: { kind: 'token', id, name }, detail: { scope } })
  })
  return { id, token }
}

/** Identifies a token: commands use its name, pages its id. */
export type BotTokenKey = { id: string } | { name: string }

/**
 * Gives a token a new secret. The previous one stays valid until it is ended or the token is rotated again.
 * @param rotatedAt when the token was last rotated, as far as the caller knows
 * @throws Failure NO_SUCH_TOKEN, or STALE if it was rotated since: another rotation would end the secret that the bot uses
 */
export async function rotateBotToken(
  database: Database,
  act: Act,
  { key, rotatedAt }: { key: BotTokenKey; rotatedAt?: string | null | undefined },
): Promise<string> {
  const { token, hash } = newSecret()
  await change(database, { act, key, action: 'token.rotate' }, async (tx, { id, rotated_at }) => {
    if (rotatedAt !== undefined && rotatedAt !== isoOf(rotated_at))
      throw new Failure('STALE', { message: 'This token has been rotated meanwhile, so it was not rotated again.' })
    await sql`update bot_tokens set previous_hash = token_hash, previous_used_at = last_used_at,
        token_hash = ${hash}, last_used_at = null, rotated_at = now() where id = ${id}`.execute(tx)
    return true
  })
  return token
}

/** Ends the previous secret. @returns whether there was a valid one @throws Failure NO_SUCH_TOKEN */
export async function endPreviousSecret(database: Database, act: Act, key: BotTokenKey): Promise<boolean> {
  return change(database, { act, key, action: 'token.retire' }, async (tx, { id }) => {
    const { numUpdatedRows } = await tx
      .updateTable('bot_tokens')
      .set({ previous_hash: null, previous_used_at: null })
      .where('id', '=', id)
      .where('previous_hash', 'is not', null)
      .executeTakeFirst()
    return numUpdatedRows > 0
  })
}

/** Revokes a token with all its secrets. @throws Failure NO_SUCH_TOKEN */
export async function revokeBotToken(database: Database, act: Act, key: BotTokenKey): Promise<void> {
  await change(database, { act, key, action: 'token.revoke' }, async (tx, { id }) => {
    await tx.deleteFrom('bot_tokens').where('id', '=', id).execute()
    return true
  })
}

/** @param work returns whether it has changed anything: otherwise no audit entry is written */
async function change(
  database: Database,
  { act, key, action }: { act: Act; key: BotTokenKey; action: AuditAction },
  work: (tx: Transaction<Tables>, token: { id: string; rotated_at: Date | null }) => Promise<boolean>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [column, value] = Object.entries(key)[0] as ['id' | 'name', string]
    const found = await tx
      .selectFrom('bot_tokens')
      .select(['id', 'name', 'rotated_at'])
      .where(column, '=', value)
      .forUpdate()
      .executeTakeFirst()
    if (!found) throw new Failure('NO_SUCH_TOKEN')
    if (!(await work(tx, found))) return false
    const { id, name } = found
    await sql`select pg_notify(${CHANNEL}, ${id})`.execute(tx)
    await audit(tx, act, action, { record: { kind: 'token', id, name } })
    return true
  })
}

function newSecret(): { token: string; hash: Buffer } {
  const token = PREFIX + newToken()
  return { token, hash: hashToken(token) }
}

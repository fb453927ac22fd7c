/**
 * Sessions (§4, security.md): 256-bit tokens, stored as SHA-256. A session ends after 12 idle hours, after 7 days, and at once on sign-out,
 * removal and change of role. Hides the table and the cache; changes of other processes arrive by NOTIFY.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Session } from '@arcade/contract/account/calls'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { SecondFactorMethod, SecondFactorPolicy } from '@arcade/contract/second-factor/fields'
import { type Act, audit } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { createCredentialCache, type CredentialCache, EVERYBODY, type InTurn } from './credential-cache.ts'
import { endEmailChange } from './email-changes.ts'
import { endInvitationsBy } from './invitations.ts'
import { endPendingSignInsOf, sweepPendingSignIns } from './pending-sign-ins.ts'
import { endPasswordLinksBy, endPasswordLinksFor } from './password-links.ts'
import { endResetsOf } from './password-resets.ts'
import { type FindCurrent, prepareFindCurrent, SESSION_IDLE_SECONDS, SESSION_MAX_SECONDS } from './find-session.ts'
import { sessionUserOf } from './roles.ts'
import { methodsOf } from './second-factor.ts'
import { isLinked, type LinkedIdentity } from './oidc-links.ts'
import { isPasskey } from './own-passkeys.ts'
import { endLinkCode } from './telegram-links.ts'
import { hashToken, newToken } from './tokens.ts'

/** Interval at which the last use of a session, and of its user, is stored while the address stays the same. */
const TOUCH_EVERY_SECONDS = 10 * 60
/** The most sessions of a person; beginning another one ends the oldest. */
export const SESSIONS_EACH = 20
const CHANNEL = 'sessions'

/** Is called with the id of a user whose sessions or role may have changed, or without an id if any user may be affected. */
type ChangeListener = (userId: string | undefined) => void

interface BeginOptions {
  /** The sign-in, with its address and a device such as `Chrome on Windows`. */
  act?: Act
  /** The hash that the given password matched. */
  passwordHash?: string | undefined
  /** How the person proved the second factor at this sign-in. */
  provedBy?: SecondFactorMethod | undefined
  /** The passkey, or the account of the sign-in service, that was used. */
  passkeyId?: string | undefined
  linked?: LinkedIdentity | undefined
}

export interface Sessions {
  /**
   * Begins a session and returns its token; only the token's hash is stored. Ends the person's oldest session beyond SESSIONS_EACH.
   * @throws Failure LOGIN_FAILED if the password's hash is not the account's any more, or the account has just got a second factor that was
   *   not proved; PASSKEY_REFUSED if the passkey was removed meanwhile; OIDC_NOT_LINKED if the account of the sign-in service was unlinked
   */
  begin(userId: string, options?: BeginOptions): Promise<string>
  /**
   * Returns the user of a token with the current role, or `undefined` if the token is unknown or expired or the user was removed. Stores
   * the use every 10 minutes, and one from a new address within a minute (credential-cache.ts).
   */
  userOf(token: string, inTurn?: InTurn, address?: string): Promise<SessionUser | undefined>
  /** Whether the token was valid when this process last looked it up, and its user has not changed since. */
  isRecent(token: string): boolean
  /** Returns the id of a session, which stays when its token changes. */
  idOf(token: string): Promise<string | undefined>
  /** Returns the user of a session. It does not count as a use: an open dashboard must not keep its session alive. */
  holderOf(sessionId: string): Promise<SessionUser | undefined>
  /** Calls `listener` when a user's sessions may have ended or the role may have changed. Without an id, any user may be affected. */
  onChange(listener: ChangeListener): void
  /**
   * Notes that the person has just proved the second factor, and gives the session a new token. Call `changed` after the commit.
   * @returns the new token @throws Failure SIGNED_OUT if the session has ended
   */
  renew(tx: Transaction<Tables>, userId: string, token: string | undefined): Promise<string>
  /**
   * Ends a user's other sessions, the links, invitations and change of e-mail that the user made and sign-ins that wait, because the second
   * factor changes; this session is renewed. Call `changed` after the commit.
   * @param hasProvedFactor false if the second factor was not proved just now @returns the new token @throws Failure SIGNED_OUT if it has ended
   */
  renewAlone(tx: Transaction<Tables>, userId: string, token: string | undefined, hasProvedFactor?: boolean): Promise<string>
  /** Ends one session. With an act, its owner signs out. */
  end(token: string, act?: Act): Promise<void>
  /** Returns a user's sessions: the one with this token first, then the most recent ones. */
  listOf(userId: string, token: string | undefined): Promise<Session[]>
  /** Ends one of a user's sessions, and the links, invitations and change of e-mail that the user made; does nothing for another user's session. */
  endById(userId: string, id: string, act: Act): Promise<void>
  /** Ends all of a user's sessions except the one with this token, and the links, invitations and change of e-mail that the user made. */
  endOthers(userId: string, token: string | undefined, act: Act): Promise<void>
  /**
   * Keeps an admin's rights and session as they are until the transaction ends, so that what it makes cannot outlive them.
   * @throws Failure SIGNED_OUT if they have ended meanwhile
   */
  lockAdmin(tx: Kysely<Tables>, userId: string, token: string | undefined): Promise<void>
  /**
   * Keeps a session as it is until the transaction ends. The caller may have locked the account, but not the user.
   * @throws Failure SIGNED_OUT if it has ended meanwhile
   */
  lock(tx: Kysely<Tables>, userId: string, token: string | undefined): Promise<void>
  /**
   * Ends all sessions of a user, the links and invitations that the user made, and the links for the user, in the transaction that changes
   * the user. Call `changed` after the commit.
   */
  endAllOf(tx: Kysely<Tables>, userId: string): Promise<void>
  /** Notifies every process to forget a user. Call it in the transaction that changes the user. */
  announceChange(tx: Kysely<Tables>, userId: string): Promise<void>
  /** Like `announceChange` for very many users: notifies every process to forget all users. */
  announceManyChanges(tx: Kysely<Tables>): Promise<void>
  /** Makes this process forget a user, or all users. Call it after the commit. */
  changed(userId?: string): void
  /** Deletes expired sessions, and sign-ins that wait in vain. */
  sweep(): Promise<void>
}

/** @param policy who must have a second factor */
export async function createSessions(database: Database, policy: SecondFactorPolicy = 'optional'): Promise<Sessions> {
  const listeners = new Set<ChangeListener>()
  const findCurrent = prepareFindCurrent(database, policy)
  const cache = await createCredentialCache<SessionUser>(database, {
    channel: CHANNEL,
    async load(hash, address) {
      const row = await findCurrent(hash)
      if (!row) return undefined
      const isElsewhere = address !== undefined && row.last_address !== '' && row.last_address !== address
      if (isElsewhere || row.idle > TOUCH_EVERY_SECONDS) void touch(database.db, hash, { userId: row.id, address })
      return { owner: sessionUserOf(row), leftMs: row.left * 1000 }
    },
    onForget(userId) {
      for (const listener of listeners) listener(userId)
    },
  })
  return new CachedSessions({ database, findCurrent, cache, listeners })
}

interface CachedSessionsOptions {
  database: Database
  findCurrent: FindCurrent
  cache: CredentialCache<SessionUser>
  /** What `onChange` adds to. The cache calls them. */
  listeners: Set<ChangeListener>
}

/** The sessions in the database, with the users of recently used ones in the cache. */
class CachedSessions implements Sessions {
  readonly #database: Database
  readonly #findCurrent: FindCurrent
  readonly #cache: CredentialCache<SessionUser>
  readonly #listeners: Set<ChangeListener>

  constructor({ database, findCurrent, cache, listeners }: CachedSessionsOptions) {
    this.#database = database
    this.#findCurrent = findCurrent
    this.#cache = cache
    this.#listeners = listeners
  }

  async begin(userId: string, { act, passwordHash, provedBy, passkeyId, linked }: BeginOptions = {}): Promise<string> {
    const token = newToken()
    const address = act?.address ?? ''
    const hasEndedOthers = await this.#database.transaction(async (tx) => {
      // Locks the user and then the account, in the same order as removing a user does.
      await writeLastSeen(tx, userId)
      const currentHash = await lockAccount(tx, userId)
      if (passwordHash !== undefined && currentHash !== passwordHash) throw new Failure('LOGIN_FAILED')
      if (passkeyId !== undefined && !(await isPasskey(tx, passkeyId))) throw new Failure('PASSKEY_REFUSED')
      if (linked && !(await isLinked(tx, userId, linked))) throw new Failure('OIDC_NOT_LINKED')
      if ((passwordHash ?? linked) && !provedBy && (await methodsOf(tx, userId)).length > 0) throw new Failure('LOGIN_FAILED')
      await tx
        .insertInto('sessions')
        .values({
          token_hash: hashToken(token),
          user_id: userId,
          device: act?.device ?? '',
          begun_address: address,
          last_address: address,
          second_factor_at: provedBy ? sql<Date>`now()` : null,
        })
        .execute()
      const how = { ...(linked && { method: 'oidc' }), ...(provedBy && { secondFactor: provedBy }) }
      if (act) await audit(tx, act, 'session.begin', linked || provedBy ? { detail: how } : {})
      return endOldest(tx, userId)
    })
    if (hasEndedOthers) this.changed(userId)
    return token
  }

  async userOf(token: string, inTurn?: InTurn, address?: string): Promise<SessionUser | undefined> {
    return TOKEN.test(token) ? this.#cache.find(hashToken(token), inTurn, address) : undefined
  }

  isRecent(token: string): boolean {
    return TOKEN.test(token) && this.#cache.isRecent(hashToken(token))
  }

  async idOf(token: string): Promise<string | undefined> {
    const query = this.#database.db.selectFrom('sessions').select('id').where('token_hash', '=', hashToken(token))
    return (await query.executeTakeFirst())?.id
  }

  async holderOf(sessionId: string): Promise<SessionUser | undefined> {
    const query = this.#database.db.selectFrom('sessions').select('token_hash').where('id', '=', sessionId)
    const session = await query.executeTakeFirst()
    const row = session && (await this.#findCurrent(session.token_hash))
    return row && sessionUserOf(row)
  }

  onChange(listener: ChangeListener): void {
    this.#listeners.add(listener)
  }

  async renew(tx: Transaction<Tables>, userId: string, token: string | undefined, hasProvedFactor = true): Promise<string> {
    const renewed = newToken()
    const { numUpdatedRows } = await tx
      .updateTable('sessions')
      .set({ token_hash: hashToken(renewed), ...(hasProvedFactor && { second_factor_at: sql<Date>`now()` }) })
      .where('token_hash', '=', hashToken(token ?? ''))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new Failure('SIGNED_OUT')
    await notifyOf(tx, userId)
    return renewed
  }

  async renewAlone(tx: Transaction<Tables>, userId: string, token: string | undefined, hasProvedFactor = true): Promise<string> {
    // A sign-in at the same time waits for the account, and then sees the new factor.
    await lockAccount(tx, userId)
    await tx
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('token_hash', '<>', hashToken(token ?? ''))
      .execute()
    await endAllMadeBy(tx, userId)
    return this.renew(tx, userId, token, hasProvedFactor)
  }

  async end(token: string, act?: Act): Promise<void> {
    const userId = await this.#database.transaction(async (tx) => {
      const [row] = await tx.deleteFrom('sessions').where('token_hash', '=', hashToken(token)).returning('user_id').execute()
      if (!row) return undefined
      await notifyOf(tx, row.user_id)
      if (act) await audit(tx, act, 'session.end', {})
      return row.user_id
    })
    if (userId !== undefined) this.changed(userId)
  }

  async listOf(userId: string, token: string | undefined): Promise<Session[]> {
    const isCurrent = token === undefined ? sql<boolean>`false` : sql<boolean>`token_hash = ${hashToken(token)}`
    const rows = await this.#database.db
      .selectFrom('sessions')
      .select(['id', 'device', 'created_at', 'begun_address', 'last_seen_at', 'last_address', isCurrent.as('isCurrent')])
      .where('user_id', '=', userId)
      .where(sql<boolean>`last_seen_at > now() - make_interval(secs => ${SESSION_IDLE_SECONDS})`)
      .where(sql<boolean>`created_at > now() - make_interval(secs => ${SESSION_MAX_SECONDS})`)
      .orderBy('isCurrent', 'desc')
      .orderBy('last_seen_at', 'desc')
      .orderBy('id')
      .execute()
    return rows.map(({ id, device, isCurrent: isThis, ...row }) => ({
      id,
      device,
      isCurrent: isThis,
      begunAt: row.created_at.toISOString(),
      begunAddress: row.begun_address,
      lastSeenAt: row.last_seen_at.toISOString(),
      lastAddress: row.last_address,
    }))
  }

  async endById(userId: string, id: string, act: Act): Promise<void> {
    await this.#endWhere(userId, sql<boolean>`id = ${id}`, act)
  }

  async endOthers(userId: string, token: string | undefined, act: Act): Promise<void> {
    const isOther = token === undefined ? sql<boolean>`true` : sql<boolean>`token_hash <> ${hashToken(token)}`
    await this.#endWhere(userId, isOther, act)
  }

  async lockAdmin(tx: Kysely<Tables>, userId: string, token: string | undefined): Promise<void> {
    // Locks the user before the session, in the same order as a change of the role does.
    const user = await sql`select from users where id = ${userId} and user_type = 'admin' for share`.execute(tx)
    if (user.rows.length === 0) throw new Failure('SIGNED_OUT')
    await this.lock(tx, userId, token)
  }

  async lock(tx: Kysely<Tables>, userId: string, token: string | undefined): Promise<void> {
    const hash = hashToken(token ?? '')
    const { rows } = await sql`select from sessions where user_id = ${userId} and token_hash = ${hash} for key share`.execute(tx)
    if (rows.length === 0) throw new Failure('SIGNED_OUT')
  }

  async endAllOf(tx: Kysely<Tables>, userId: string): Promise<void> {
    await tx.deleteFrom('sessions').where('user_id', '=', userId).execute()
    await endPasswordLinksFor(tx, userId)
    await endResetsOf(tx, userId)
    await endAllMadeBy(tx, userId)
    await notifyOf(tx, userId)
  }

  async announceChange(tx: Kysely<Tables>, userId: string): Promise<void> {
    await notifyOf(tx, userId)
  }

  async announceManyChanges(tx: Kysely<Tables>): Promise<void> {
    await notifyOf(tx, EVERYBODY)
  }

  changed(userId?: string): void {
    this.#cache.forget(userId)
  }

  async sweep(): Promise<void> {
    await sweepPendingSignIns(this.#database.db)
    await this.#database.db
      .deleteFrom('sessions')
      .where((where) =>
        where.or([
          where('last_seen_at', '<', sql<Date>`now() - make_interval(secs => ${SESSION_IDLE_SECONDS})`),
          where('created_at', '<', sql<Date>`now() - make_interval(secs => ${SESSION_MAX_SECONDS})`),
        ]),
      )
      .execute()
  }

  /** Ends those of a user's sessions that match a condition. */
  async #endWhere(userId: string, condition: RawBuilder<boolean>, act: Act): Promise<void> {
    const ended = await this.#database.transaction(async (tx) => {
      const { numDeletedRows } = await tx
        .deleteFrom('sessions')
        .where('user_id', '=', userId)
        .where(condition)
        .executeTakeFirstOrThrow()
      // After the sessions, because a link that one of them is just making is visible only when the session's lock is free.
      await endAllMadeBy(tx, userId)
      if (numDeletedRows === 0n) return 0
      await notifyOf(tx, userId)
      await audit(tx, act, 'session.revoke', { detail: { sessions: Number(numDeletedRows) } })
      return Number(numDeletedRows)
    })
    if (ended > 0) this.changed(userId)
  }
}

/**
 * Ends all that a user has made and could outlive a session: a thief of the session may have made it. The account is locked, or its sessions
 * are ended, so that nothing is just being made.
 */
async function endAllMadeBy(tx: Kysely<Tables>, userId: string): Promise<void> {
  await endPasswordLinksBy(tx, userId)
  await endInvitationsBy(tx, userId)
  await endEmailChange(tx, userId)
  await endLinkCode(tx, userId)
  await endPendingSignInsOf(tx, userId)
}

/**
 * Locks a user's account and returns the hash of its password. The lock makes two sessions of one person begin one after the other, so that
 * each counts the other.
 */
async function lockAccount(tx: Kysely<Tables>, userId: string): Promise<string | undefined> {
  const { rows } = await sql<{ password_hash: string }>`
    select password_hash from accounts where id = ${userId} for no key update`.execute(tx)
  return rows[0]?.password_hash
}

/** Ends a user's oldest sessions beyond SESSIONS_EACH. Returns whether there were any. */
async function endOldest(tx: Kysely<Tables>, userId: string): Promise<boolean> {
  const ended = await sql`delete from sessions where token_hash in (
    select token_hash from sessions where user_id = ${userId} order by created_at desc, token_hash offset ${SESSIONS_EACH})`.execute(
    tx,
  )
  if (!ended.numAffectedRows) return false
  await notifyOf(tx, userId)
  return true
}

/** Makes the caches of all processes forget a user, or EVERYBODY, when the transaction commits. */
async function notifyOf(tx: Kysely<Tables>, userId: string): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${userId})`.execute(tx)
}

/** What `newToken` returns. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** Stores time and address of a session's last use. A failure, such as a full disk, must not fail the request. */
async function touch(
  db: Kysely<Tables>,
  hash: Buffer,
  { userId, address }: { userId: string; address: string | undefined },
): Promise<void> {
  const lastUse = { last_seen_at: sql<Date>`now()`, ...(address !== undefined && { last_address: address }) }
  // Two statements, so that none waits for a row while it holds the lock of another.
  const written = db.updateTable('sessions').set(lastUse).where('token_hash', '=', hash).execute()
  await written.then(() => writeLastSeen(db, userId)).catch(() => {})
}

/** Stores when a user was last seen, once for several simultaneous uses. Overwrites a future time, stored before the clock was set back. */
async function writeLastSeen(db: Kysely<Tables>, userId: string): Promise<void> {
  await sql`update users set last_seen_at = now()
    where id = ${userId} and (last_seen_at between now() - make_interval(secs => ${TOUCH_EVERY_SECONDS}) and now()) is not true`.execute(
    db,
  )
}

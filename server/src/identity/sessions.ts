/**
 * Sessions (§4, security.md): 256-bit tokens, stored as SHA-256. A session ends after 12 idle hours, after 7 days, and at once on sign-out,
 * removal, and a new role, password or second factor. Hides the table and the cache; changes of other processes arrive by NOTIFY.
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
import {
  type FindSession,
  prepareFindSession,
  SESSION_IDLE_SECONDS,
  MAX_SESSION_SECONDS,
  type SessionKey,
} from './find-session.ts'
import { touch, TOUCH_EVERY_SECONDS, writeLastSeen } from './last-use.ts'
import { sessionUserOf } from './roles.ts'
import { notifyAndWaitForActs, notifyOf, SESSIONS_CHANNEL } from './session-notices.ts'
import { methodsOf } from './second-factor.ts'
import { isLinked, type LinkedIdentity } from './oidc-links.ts'
import { isPasskey } from './own-passkeys.ts'
import { endLinkCode } from './telegram-links.ts'
import { hashToken, newToken } from './tokens.ts'

/** The most sessions of a person; beginning another one ends the oldest. */
export const SESSIONS_EACH = 20

/** A session and its user. */
export interface FoundSession {
  /** The user's id. */
  id: string
  sessionId: string
  user: SessionUser
}

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
   * Returns the session of a token and its user with the current role, or `undefined` if the token is unknown or expired or the user was
   * removed. Stores the use every 10 minutes, and one from a new address within a minute (credential-cache.ts).
   */
  find(token: string, inTurn?: InTurn, address?: string): Promise<FoundSession | undefined>
  /** Whether the token was valid when this process last looked it up, and its user has not changed since. */
  isRecent(token: string): boolean
  /**
   * Returns the user of each of these sessions that is still active, by the id of the session. It does not count as a use, because an
   * open dashboard must not keep its session alive.
   * @param db the transaction in which to look, if there is one
   */
  holdersOf(keys: readonly SessionKey[], db?: Kysely<Tables>): Promise<Map<string, SessionUser>>
  /** Whether the transaction itself has ended the session. */
  hasEnded(tx: Kysely<Tables>, sessionId: string): boolean
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
  /**
   * Like `announceChange` for very many users: notifies every process to forget all users.
   * @param withoutRights those among them who have lost what they could do as admins
   */
  announceManyChanges(tx: Kysely<Tables>, withoutRights?: readonly string[]): Promise<void>
  /** Makes this process forget a user, or all users. Call it after the commit. */
  forgetUser(userId?: string): void
  /** Deletes expired sessions, and expired sign-ins that wait for their second step. */
  sweep(): Promise<void>
}

/** @param policy who must have a second factor */
export async function createSessions(database: Database, policy: SecondFactorPolicy = 'optional'): Promise<Sessions> {
  const listeners = new Set<ChangeListener>()
  const find = prepareFindSession(database, policy)
  const cache = await createCredentialCache<FoundSession>(database, {
    channel: SESSIONS_CHANNEL,
    async load(hash, address) {
      const row = await find.byToken(hash)
      if (!row) return undefined
      const isElsewhere = address !== undefined && row.last_address !== '' && row.last_address !== address
      if (isElsewhere || row.idle > TOUCH_EVERY_SECONDS) void touch(database.db, hash, { userId: row.id, address })
      return { owner: { id: row.id, sessionId: row.session_id, user: sessionUserOf(row) }, leftMs: row.left * 1000 }
    },
    onForget(userId) {
      for (const listener of listeners) listener(userId)
    },
  })
  return new CachedSessions({ database, find, cache, listeners })
}

interface CachedSessionsOptions {
  database: Database
  find: FindSession
  cache: CredentialCache<FoundSession>
  /** What `onChange` adds to. The cache calls them. */
  listeners: Set<ChangeListener>
}

/** The sessions in the database, with the users of recently used ones in the cache. */
class CachedSessions implements Sessions {
  readonly #database: Database
  readonly #find: FindSession
  readonly #cache: CredentialCache<FoundSession>
  readonly #listeners: Set<ChangeListener>
  /** The ids of the sessions that transactions have ended. */
  readonly #ended = new WeakMap<Kysely<Tables>, Set<string>>()

  constructor({ database, find, cache, listeners }: CachedSessionsOptions) {
    this.#database = database
    this.#find = find
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
    if (hasEndedOthers) this.forgetUser(userId)
    return token
  }

  async find(token: string, inTurn?: InTurn, address?: string): Promise<FoundSession | undefined> {
    return TOKEN.test(token) ? this.#cache.find(hashToken(token), inTurn, address) : undefined
  }

  isRecent(token: string): boolean {
    return TOKEN.test(token) && this.#cache.isRecent(hashToken(token))
  }

  async holdersOf(keys: readonly SessionKey[], db: Kysely<Tables> = this.#database.db): Promise<Map<string, SessionUser>> {
    const rows = keys.length === 0 ? [] : await this.#find.byKey(db, keys)
    return new Map(rows.map((row) => [row.session_id, sessionUserOf(row)]))
  }

  hasEnded(tx: Kysely<Tables>, sessionId: string): boolean {
    return this.#ended.get(tx)?.has(sessionId) ?? false
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
    await notifyAndWaitForActs(tx, userId)
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
      await notifyAndWaitForActs(tx, row.user_id)
      if (act) await audit(tx, act, 'session.end', {})
      return row.user_id
    })
    if (userId !== undefined) this.forgetUser(userId)
  }

  async listOf(userId: string, token: string | undefined): Promise<Session[]> {
    const isCurrent = token === undefined ? sql<boolean>`false` : sql<boolean>`token_hash = ${hashToken(token)}`
    const rows = await this.#database.db
      .selectFrom('sessions')
      .select(['id', 'device', 'created_at', 'begun_address', 'last_seen_at', 'last_address', isCurrent.as('isCurrent')])
      .where('user_id', '=', userId)
      .where(sql<boolean>`last_seen_at > now() - make_interval(secs => ${SESSION_IDLE_SECONDS})`)
      .where(sql<boolean>`created_at > now() - make_interval(secs => ${MAX_SESSION_SECONDS})`)
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
    await this.#endWhere(userId, sql<boolean>`id = ${id}`, act, { isOne: true })
  }

  async endOthers(userId: string, token: string | undefined, act: Act): Promise<void> {
    const isOther = token === undefined ? sql<boolean>`true` : sql<boolean>`token_hash <> ${hashToken(token)}`
    await this.#endWhere(userId, isOther, act, { isOne: false })
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
    await this.#delete(tx, userId, sql<boolean>`true`)
    await endPasswordLinksFor(tx, userId)
    await endResetsOf(tx, userId)
    await endAllMadeBy(tx, userId)
    await notifyAndWaitForActs(tx, userId)
  }

  async announceChange(tx: Kysely<Tables>, userId: string): Promise<void> {
    await notifyOf(tx, userId)
  }

  async announceManyChanges(tx: Kysely<Tables>, withoutRights: readonly string[] = []): Promise<void> {
    await notifyOf(tx, EVERYBODY)
    for (const id of withoutRights) await notifyAndWaitForActs(tx, id)
  }

  forgetUser(userId?: string): void {
    this.#cache.forget(userId)
  }

  async sweep(): Promise<void> {
    await sweepPendingSignIns(this.#database.db)
    await this.#database.db
      .deleteFrom('sessions')
      .where((where) =>
        where.or([
          where('last_seen_at', '<', sql<Date>`now() - make_interval(secs => ${SESSION_IDLE_SECONDS})`),
          where('created_at', '<', sql<Date>`now() - make_interval(secs => ${MAX_SESSION_SECONDS})`),
        ]),
      )
      .execute()
  }

  /** Ends those of a user's sessions that match, and what the user has made. If one is named and is not the user's, nothing ends. */
  async #endWhere(userId: string, condition: RawBuilder<boolean>, act: Act, { isOne }: { isOne: boolean }): Promise<void> {
    const ended = await this.#database.transaction(async (tx) => {
      const deleted = await this.#delete(tx, userId, condition)
      if (isOne && deleted === 0) return 0
      // After the sessions, because a link that one of them is just making is visible only when the session's lock is free.
      await endAllMadeBy(tx, userId)
      if (deleted === 0) return 0
      await notifyAndWaitForActs(tx, userId)
      await audit(tx, act, 'session.revoke', { detail: { sessions: deleted } })
      return deleted
    })
    if (ended > 0) this.forgetUser(userId)
  }

  /** Deletes those of a user's sessions that match a condition, and keeps in mind which these are. Returns their number. */
  async #delete(tx: Kysely<Tables>, userId: string, condition: RawBuilder<boolean>): Promise<number> {
    const deleted = await tx.deleteFrom('sessions').where('user_id', '=', userId).where(condition).returning('id').execute()
    this.#ended.set(tx, new Set([...(this.#ended.get(tx) ?? []), ...deleted.map(({ id }) => id)]))
    return deleted.length
  }
}

/**
 * Revokes the links, invitations and pending changes that a user has made, because a thief of the session may have made them. The caller
 * has locked the account or ended its sessions, so no new ones appear meanwhile.
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
  await notifyAndWaitForActs(tx, userId)
  return true
}

/** What `newToken` returns. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/

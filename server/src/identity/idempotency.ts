/**
 * Makes requests with an Idempotency-Key take effect once (design §7): a second request with the same key and input gets the answer of the
 * first one, and waits for it if needed. Hides the table of keys and answers, which all servers share.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import { type CallContext, Failure, type IdempotencyKey } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

const KEPT_HOURS = 24
/** Seconds after which an unfinished request counts as abandoned by a dead server: storing an uploaded file takes less. */
const ABANDONED_SECONDS = 60
const WAIT_MS = 20_000
const ASK_EVERY_MS = 100
const RETRY_AFTER_SECONDS = 5

/**
 * Runs `create` in a transaction, which also stores its answer: after a crash both exist or neither. A failed call leaves nothing behind, so
 * repeating it is a new attempt.
 * @param before work that takes too long for a transaction; skipped if the answer is stored already
 * @param create returns the answer of the call
 * @throws Failure IDEMPOTENCY_KEY_REUSED if the key was used with other input before
 */
export async function createOnce<T, Prepared>(
  database: Database,
  { idempotencyKey: key }: CallContext,
  { before, create }: { before?: () => Promise<Prepared>; create: (tx: Transaction<Tables>, prepared: Prepared) => Promise<T> },
): Promise<T> {
  const earlier = key && (await findAnswer<T>(database.db, key))
  if (earlier !== undefined) return earlier
  const prepared = (await before?.()) as Prepared
  return database.transaction(async (tx) => {
    if (key === undefined) return create(tx, prepared)
    // This waits for the transaction of a running equal request, up to the pool's lock timeout.
    const taken = await takeKey(tx, key)
    if (!taken) return (await findAnswer<T>(tx, key)) ?? unfinished()
    const answer = await create(tx, prepared)
    await keepAnswer(tx, taken, answer)
    return answer
  })
}

/**
 * Like `createOnce`, for work outside a transaction, such as storing a file. After a crash, a repeated request starts again once ABANDONED_SECONDS
 * have passed, so the unfinished work of `create` must be cleaned up in another way. If a request takes longer and another one takes over the
 * key, both run `create`, and only the answer of the other one is stored.
 */
export async function createOnceInSteps<T>(
  { db }: Pick<Database, 'db'>,
  { idempotencyKey: key, signal }: CallContext,
  create: () => Promise<T>,
): Promise<T> {
  if (key === undefined) return create()
  const deadline = performance.now() + WAIT_MS
  let taken: TakenKey | undefined
  while (!(taken = await takeKey(db, key))) {
    const answer = await findAnswer<T>(db, key)
    if (answer !== undefined) return answer
    if (performance.now() > deadline || signal.aborted) return unfinished()
    await pause(ASK_EVERY_MS)
  }
  try {
    const answer = await create()
    await keepAnswer(db, taken, answer)
    return answer
  } catch (error) {
    // If this fails as well, the key can be used again when it counts as abandoned.
    await sql`delete from idempotency_keys where ${isHeld(taken)} and answer is null`.execute(db).catch(() => {})
    throw error
  }
}

/** Deletes expired keys. */
export async function sweepIdempotencyKeys({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`delete from idempotency_keys where created_at <= now() - make_interval(hours => ${KEPT_HOURS})`.execute(db)
}

/** A key that a request has taken. Another request may take it over once it counts as abandoned. */
interface TakenKey extends IdempotencyKey {
  /** When the request took it, in seconds since 1970 with all decimals. */
  takenAt: string
}

/** Takes the key. Returns undefined if another request has it and is neither expired nor abandoned. */
async function takeKey(db: Kysely<Tables>, key: IdempotencyKey): Promise<TakenKey | undefined> {
  const { caller, hash, fingerprint } = key
  const { rows } = await sql<{ takenAt: string }>`
    insert into idempotency_keys as kept (caller, key_hash, fingerprint) values (${caller}, ${hash}, ${fingerprint})
    on conflict (caller, key_hash) do update set fingerprint = excluded.fingerprint, answer = null, created_at = now()
      where kept.created_at <= now() - make_interval(hours => ${KEPT_HOURS})
        or (kept.answer is null and kept.created_at <= now() - make_interval(secs => ${ABANDONED_SECONDS}))
    returning extract(epoch from created_at)::text as "takenAt"`.execute(db)
  return rows[0] && { ...key, ...rows[0] }
}

/** Returns the stored answer, or `undefined` if there is none yet. */
async function findAnswer<T>(db: Kysely<Tables>, key: IdempotencyKey): Promise<T | undefined> {
  const found = await db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'answer'])
    .where(hasKey(key))
    .where(sql<boolean>`created_at > now() - make_interval(hours => ${KEPT_HOURS})`)
    .executeTakeFirst()
  if (!found) return undefined
  if (!found.fingerprint.equals(key.fingerprint)) throw new Failure('IDEMPOTENCY_KEY_REUSED')
  return found.answer === null ? undefined : (JSON.parse(found.answer) as T)
}

async function keepAnswer(db: Kysely<Tables>, taken: TakenKey, answer: unknown): Promise<void> {
  await sql`update idempotency_keys set answer = ${JSON.stringify(answer)} where ${isHeld(taken)}`.execute(db)
}

function hasKey({ caller, hash }: IdempotencyKey) {
  return sql<boolean>`caller = ${caller} and key_hash = ${hash}`
}

/** A condition for the row of a taken key, unless another request has taken it over. */
function isHeld(taken: TakenKey) {
  return sql<boolean>`${hasKey(taken)} and extract(epoch from created_at) = ${taken.takenAt}::numeric`
}

function unfinished(): never {
  throw new Failure('UNAVAILABLE', {
    message: 'The same request is still under way. Please try again in a moment.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

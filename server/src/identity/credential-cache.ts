/**
 * Caches the owners of credentials in this process, so that most requests need no query. Hides the clock, the size, and that a lookup which
 * began before a change is not cached after it.
 */
import type { Database } from '#src/db/database.ts'

/** An entry is looked up again after a minute at the latest, in case a notification was lost. */
const KEPT_MS = 60_000
const SIZE = 20_000
/** The payload of a notification that concerns all owners: an owner's id is never empty. */
export const EVERYBODY = ''

/** Runs work when it is the caller's turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export interface CredentialCache<Owner> {
  /**
   * Returns the owner of the credential with this hash, from the cache or else from `load`.
   * @param inTurn runs the lookup of a credential that was not known to be valid recently: anybody can send such a credential
   * @param address the client's address, which `load` may store
   */
  find: (hash: Buffer, inTurn?: InTurn, address?: string) => Promise<Owner | undefined>
  /** Whether the credential was valid when it was last looked up, and its owner has not changed since. */
  isRecent: (hash: Buffer) => boolean
  /** Forgets an owner, or all. Call it after the commit of a change; other processes are told by NOTIFY. */
  forget: (ownerId?: string) => void
}

/** @param load finds the owner, and for how long at most the result is valid */
export async function createCredentialCache<Owner extends { id: string }>(
  database: Pick<Database, 'listen'>,
  {
    channel,
    load,
    onForget,
  }: {
    /** A payload is an owner's id or EVERYBODY. */
    channel: string
    load: (hash: Buffer, address: string | undefined) => Promise<{ owner: Owner; leftMs?: number } | undefined>
    onForget?: (ownerId: string | undefined) => void
  },
): Promise<CredentialCache<Owner>> {
  /** `until` is a time of the monotonic clock, because the system clock may jump. */
  const entries = new Map<string, { owner: Owner; until: number }>()
  let generation = 0
  const forget = (ownerId?: string): void => {
    generation += 1
    for (const [key, { owner }] of entries) if (ownerId === undefined || owner.id === ownerId) entries.delete(key)
    onForget?.(ownerId)
  }
  await database.listen(
    channel,
    (ownerId) => forget(ownerId === EVERYBODY ? undefined : ownerId),
    () => forget(),
  )
  return {
    async find(hash, inTurn = (work) => work(), address) {
      const key = hash.toString('base64')
      const now = performance.now()
      const kept = entries.get(key)
      if (kept && kept.until > now) return kept.owner
      const before = generation
      const loaded = await (kept ? load(hash, address) : inTurn(() => load(hash, address)))
      if (!loaded) entries.delete(key)
      else if (generation === before) {
        entries.delete(key) // so that it becomes the newest
        if (entries.size >= SIZE) entries.delete(entries.keys().next().value ?? '')
        entries.set(key, { owner: loaded.owner, until: now + Math.min(KEPT_MS, loaded.leftMs ?? KEPT_MS) })
      }
      return loaded?.owner
    },
    isRecent: (hash) => entries.has(hash.toString('base64')),
    forget,
  }
}

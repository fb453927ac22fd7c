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

export interface CredentialCache<Owner> {
  /** Returns the owner of the credential with this hash, from the cache or else from `load`. */
  find: (hash: Buffer) => Promise<Owner | undefined>
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
    load: (hash: Buffer) => Promise<{ owner: Owner; leftMs?: number } | undefined>
    onForget?: (ownerId: string | undefined) => void
  },
): Promise<CredentialCache<Owner>> {
  /** `until` is a time of the monotonic clock, because the system clock may jump. */
  const known = new Map<string, { owner: Owner; until: number }>()
  let generation = 0
  const forget = (ownerId?: string): void => {
    generation += 1
    for (const [key, { owner }] of known) if (ownerId === undefined || owner.id === ownerId) known.delete(key)
    onForget?.(ownerId)
  }
  await database.listen(
    channel,
    (ownerId) => forget(ownerId === EVERYBODY ? undefined : ownerId),
    () => forget(),
  )
  return {
    async find(hash) {
      const key = hash.toString('base64')
      const now = performance.now()
      const kept = known.get(key)
      if (kept && kept.until > now) return kept.owner
      known.delete(key)
      const before = generation
      const found = await load(hash)
      if (found && generation === before) {
        if (known.size >= SIZE) known.delete(known.keys().next().value ?? '')
        known.set(key, { owner: found.owner, until: now + Math.min(KEPT_MS, found.leftMs ?? KEPT_MS) })
      }
      return found?.owner
    },
    forget,
  }
}

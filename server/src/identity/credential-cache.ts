/**
 * Whom credentials belong to, kept in this process, so that most requests need no look-up. Hides the clock, the size, and that a look-up
 * which began before a change is not kept after it.
 */
import type { Database } from '#src/db/database.ts'

/** What was found is looked up again after a minute at the latest, in case a notification was lost. */
const KEPT_MS = 60_000
const SIZE = 20_000
/** The payload of a notification that concerns all owners. No owner's id is empty. */
export const EVERYBODY = ''

export interface CredentialCache<Owner> {
  /** The owner of the credential with this hash, from `load` unless it is known. */
  find: (hash: Buffer) => Promise<Owner | undefined>
  /** Forgets what it knows of an owner, or of all. To be called after the commit of a change; other processes hear it by NOTIFY. */
  forget: (ownerId?: string) => void
}

/** @param load finds the owner, and tells for how long at most that is so */
export async function createCredentialCache<Owner extends { id: string }>(
  database: Pick<Database, 'listen'>,
  {
    channel,
    load,
    onForget,
  }: {
    /** Payloads are owners' ids, or EVERYBODY. */
    channel: string
    load: (hash: Buffer) => Promise<{ owner: Owner; leftMs?: number } | undefined>
    onForget?: (ownerId: string | undefined) => void
  },
): Promise<CredentialCache<Owner>> {
  /** `until` is on the monotonic clock, because the time of day may jump. */
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

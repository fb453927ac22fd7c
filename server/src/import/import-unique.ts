/** Decides which row gets a value that only one row may have: a priority of a task (§5), an e-mail address of a user. Nothing here touches the database. */

export interface Claim<Key> {
  id: string
  /** The value the row wants. */
  key: Key
}

/**
 * The claims that cannot be met when all the others are, at once: swaps are fine. A row that has its value already keeps it;
 * among new claims the first one wins. A refused row stays as it was, so it keeps the value it had.
 * @param claims rows to be written, no two with one id
 * @param existing what is stored now, at least of the claims' ids and of whoever has a value they want
 */
export function settleUnique<Key, T extends Claim<Key>>(claims: readonly T[], existing: readonly Claim<Key>[]): Set<T> {
  const refused = new Set<T>()
  const now = new Map(existing.map(({ id, key }) => [id, key]))
  for (;;) {
    const open = claims.filter((claim) => !refused.has(claim))
    const moving = new Set(open.filter(({ id, key }) => now.get(id) !== key).map(({ id }) => id))
    const owners = new Map(existing.filter(({ id }) => !moving.has(id)).map(({ id, key }) => [key, id]))
    for (const claim of open) {
      if (owners.has(claim.key) && owners.get(claim.key) !== claim.id) refused.add(claim)
      else owners.set(claim.key, claim.id)
    }
    if (open.length === claims.length - refused.size) return refused
  }
}

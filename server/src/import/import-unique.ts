/** Decides which row gets a unique value, such as a task's priority (§5) or a user's e-mail address. Does not use the database. */

export interface Claim<Key> {
  id: string
  /** The value that the row asks for. */
  key: Key
}

/**
 * Returns the claims to refuse so that all others can be written together; rows may so swap values. A row that already has its
 * value keeps it, and of several new claims the first one wins. A refused row keeps its stored value.
 * @param claims the rows to be written, with different ids
 * @param existing the stored rows, at least those with an id of a claim or with a value that a claim asks for
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

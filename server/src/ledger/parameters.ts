/** Named parameters for statements with many of them. */

/**
 * Gives the placeholders `$1`, `$2`, … in the order of the names, so that SQL reads `${p.userId}` instead of `$1`. The SQL that
 * PostgreSQL receives is unchanged, and the values are passed as an array in the same order.
 */
export function placeholders<const Name extends string>(...names: readonly Name[]): Readonly<Record<Name, string>> {
  return Object.fromEntries(names.map((name, index) => [name, `$${index + 1}`])) as Record<Name, string>
}

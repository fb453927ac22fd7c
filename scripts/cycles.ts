/** Finds files that import each other, directly or through others: strongly connected components (Tarjan, SIAM J. Comput. 1(2), 1972). */

/**
 * @param imports each file with the files that it imports
 * @returns the files of each cycle, sorted by name; the largest cycle first
 */
export function findCycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return cycles.toSorted((a, b) => b.length - a.length)

  function visit(file: string): void {
    const own = order.size
    order.set(file, own)
    lowest.set(file, own)
    stack.push(file)
    for (const target of imports.get(file) ?? []) {
      if (!order.has(target)) visit(target)
      else if (!stack.includes(target)) continue
      lowest.set(file, Math.min(lowest.get(file) ?? own, lowest.get(target) ?? own))
    }
    if (lowest.get(file) !== own) return
    const cycle = stack.splice(stack.indexOf(file))
    if (cycle.length > 1) cycles.push(cycle.toSorted())
  }
}

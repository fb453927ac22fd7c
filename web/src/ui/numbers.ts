/** Formats numbers for people (§2): with thousands separators, and with a noun in the singular or plural. */

export function formatted(value: number): string {
  return value.toLocaleString('en-US')
}

/** @param isMore counting stopped at `total`: there are more */
export function formattedTotal(total: number, isMore: boolean | undefined): string {
  return `${isMore ? 'more than ' : ''}${formatted(total)}`
}

/** Returns the exact decimal sum of two numbers: 0.1 and 0.2 are 0.3. */
export function exactSum(one: number, other: number): number {
  const [first, second] = [decimalParts(one), decimalParts(other)]
  const places = Math.max(first.fraction.length, second.fraction.length)
  const [a, b] = [first, second].map(({ whole, fraction }) => BigInt(whole + fraction.padEnd(places, '0')))
  return Number(`${(a ?? 0n) + (b ?? 0n)}e-${places}`)
}

function decimalParts(value: number): { whole: string; fraction: string } {
  // `String` writes 0.00000001 as `1e-8`.
  const plain = value.toLocaleString('en-US', { maximumFractionDigits: 100, useGrouping: false })
  const [whole = '', fraction = ''] = plain.split('.')
  return { whole, fraction }
}

/** Returns `1 player` or `2,000 players`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatted(count)} ${count === 1 ? one : many}`
}

/** Formats numbers for people (§2): with thousands separators, and with a noun in the singular or plural. */

// Formatters are made once: `toLocaleString` with options makes one each time, which a list of fifty rows would feel.
const plain = new Intl.NumberFormat('en-US')
const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 })
const ungrouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 100, useGrouping: false })

export function formatted(value: number): string {
  return plain.format(value)
}

/** Returns a number with all of its decimals. */
export function exactly(value: number): string {
  return exact.format(value)
}

/** Returns a number with all of its decimals and without separators; `String` writes 0.00000001 as `1e-8`. */
export function ungroupedExactly(value: number): string {
  return ungrouped.format(value)
}

/** @param isMore counting stopped at `total`: there are more */
export function formattedTotal(total: number, isMore: boolean | undefined): string {
  return `${isMore ? 'more than ' : ''}${formatted(total)}`
}

/** Returns the exact decimal sum of two numbers: 0.1 and 0.2 are 0.3. */
export function exactSum(one: number, other: number): number {
  const [first, second] = [decimalParts(one), decimalParts(other)]
  const decimals = Math.max(first.fraction.length, second.fraction.length)
  const [a, b] = [first, second].map(({ whole, fraction }) => BigInt(whole + fraction.padEnd(decimals, '0')))
  return Number(`${(a ?? 0n) + (b ?? 0n)}e-${decimals}`)
}

function decimalParts(value: number): { whole: string; fraction: string } {
  const [whole = '', fraction = ''] = ungroupedExactly(value).split('.')
  return { whole, fraction }
}

/** Returns `1 player` or `2,000 players`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatted(count)} ${count === 1 ? one : many}`
}

/** The rows that a count of a list found. */
interface RowCount {
  total: number
  /** Counting stopped at `total`: there are more. */
  isMore?: boolean | undefined
  /** An estimate of how many there are. */
  about?: number | undefined
  /** There are probably fewer than this. */
  under?: number | undefined
}

/** Returns a count in words: `1,203 players`, `more than 10,000 players`, `about 120,000 players`, or `probably under 300 players`. */
export function countText({ total, isMore, about, under }: RowCount, one: string, many?: string): string {
  if (about !== undefined) return `about ${counted(about, one, many)}`
  if (under !== undefined) return `probably under ${counted(under, one, many)}`
  return `${isMore ? 'more than ' : ''}${counted(total, one, many)}`
}

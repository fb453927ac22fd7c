/**
 * Numbers are doubles. A number that a double would change is refused, never rounded (design §5). Imports no package, because the web
 * app's first page loads it.
 */

/** Whether a double represents a decimal number exactly as it was written: `0.1` and `1.50` yes, `9007199254740993` no. */
export function isExactNumber(text: string): boolean {
  // Every double preserves 15 significant digits, except near the ends of its range (IEEE 754, DBL_DIG).
  if (text.length <= 15 && /^-?\d+(\.\d+)?(e[+-]?\d\d?)?$/i.test(text)) return true
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  if (String(value) === text) return true // far cheaper than the comparison of digits
  const digits = significantDigits(text)
  return digits !== undefined && digits === significantDigits(String(value))
}

/** Returns a number's significant digits and power of ten, the same for every notation; undefined if the text is not a number. */
function significantDigits(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const significant = (whole + fraction).replace(/^0+/, '')
  if (whole === '') return undefined
  if (significant === '') return '0'
  const digits = significant.replace(/0+$/, '')
  return `${sign}${digits}e${Number(power) - fraction.length + significant.length - digits.length}`
}

/** Formats numbers with thousands separators and all their decimals. */
const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 20 })

export const format = (value: number): string => numbers.format(value)

/** Numbers as people write them, with all their decimals. */
const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 20 })

export const format = (value: number): string => numbers.format(value)

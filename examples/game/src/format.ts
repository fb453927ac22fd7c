/** Numbers as people write them. */
const numbers = new Intl.NumberFormat('en')

export const format = (value: number): string => numbers.format(value)

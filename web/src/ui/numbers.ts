/** Numbers as people read them (§2): with a comma at every third digit, and with the noun that fits. */

export function formatted(value: number): string {
  return value.toLocaleString('en-US')
}

/** @param isMore counting ended at `total`: there are more */
export function formattedTotal(total: number, isMore: boolean | undefined): string {
  return `${isMore ? 'more than ' : ''}${formatted(total)}`
}

/** `1 player`, `2,000 players` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatted(count)} ${count === 1 ? one : many}`
}

/** Compares the values of forms and records, for drafts and for merging versions. Empty and missing fields count as equal. */
type Values = Readonly<Record<string, unknown>>

export function hasSameValues(one: object, other: object): boolean {
  return normalised(one) === normalised(other)
}

export function hasSameValue(one: Values, other: Values, field: string): boolean {
  return hasSameValues({ value: one[field] }, { value: other[field] })
}

function normalised(values: object): string {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

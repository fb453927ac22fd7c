/** Writes rows of a list as JSON directly from the texts that PostgreSQL sends. Making objects of them first would take longer. */
import type { Field, Fields } from '@arcade/contract/entity'
import { JsonText } from '#src/calls.ts'
import type { TextRow } from '#src/db/reads.ts'
import { isoOfUtc } from '#src/db/moments.ts'

const asItIs = (text: string): string => text

/** Converts PostgreSQL's text for a value of each kind into JSON. */
const writers: Record<Field['kind'], (text: string) => string> = {
  text: JSON.stringify,
  choice: JSON.stringify,
  number: asItIs,
  integer: asItIs,
  moment: (text) => `"${isoOfUtc(text)}"`,
  flag: (letter) => (letter === 't' ? 'true' : 'false'),
}

/** Returns a function that writes a row as JSON. The row has `skipped` other columns, then those of `selectList` with `utc` timestamps. */
export function rowWriter(fields: Fields, skipped: number): (row: TextRow) => string {
  const parts = Object.entries(fields).map(([name, { kind }], index) => ({
    before: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: writers[kind],
    column: skipped + index,
  }))
  return (row) => {
    let json = ''
    for (const { before, write, column } of parts) {
      const text = row[column] ?? null
      json += text === null ? `${before}null` : before + write(text)
    }
    return `${json}}`
  }
}

export function jsonArray<Row>(rows: readonly string[]): JsonText<Row[]> {
  return new JsonText(`[${rows.join(',')}]`)
}

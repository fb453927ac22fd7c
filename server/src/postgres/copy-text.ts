/** The text format of COPY (https://www.postgresql.org/docs/current/sql-copy.html): one row in a line, tabs between fields, `\N` for null. */

type CopyValue = string | number | bigint | boolean | Date | null | undefined

/** Returns rows in the format that PostgreSQL would send. */
export function copyText(rows: readonly (readonly CopyValue[])[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map((value) => writeField(textOf(value))).join('\t')}\n`).join(''))
}

/** Returns a value as PostgreSQL's text; a Date as milliseconds since 1970. */
export function textOf(value: CopyValue): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return String(value instanceof Date ? value.getTime() : value)
}

function writeField(text: string | null): string {
  if (text === null) return '\\N'
  return text.replaceAll(/[\\\b\f\n\r\t\v]/g, (character) => `\\${LETTERS[character] ?? character}`)
}

/** Returns the text of a field that is not null, without escapes. */
export function readField(field: string): string {
  return field.includes('\\') ? field.replaceAll(/\\(.)/gs, (_, letter: string) => CHARACTERS[letter] ?? letter) : field
}

/** Returns the fields of each row in a chunk of complete rows. */
export function readRows(chunk: Buffer): (string | null)[][] {
  const lines = chunk.toString().split('\n')
  lines.pop() // the text after the last line break is empty
  return lines.map((line) => line.split('\t').map((field) => (field === '\\N' ? null : readField(field))))
}

const CHARACTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
const LETTERS = Object.fromEntries(Object.entries(CHARACTERS).map(([letter, character]) => [character, letter]))

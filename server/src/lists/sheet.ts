/** Derives the columns of spreadsheets from the fields that the contract declares: header, width and kind of cell. */
import type { Field, Fields, SheetName } from '@arcade/contract/entity'
import type { Column } from '#src/sheets/cells.ts'

/** A row in memory, with timestamps in milliseconds or as texts. */
export type SheetRow = Readonly<Record<string, string | number | boolean | null | undefined>>

/** How to show fields that a cell cannot show as they are stored. */
type FlagName<Fs extends Fields> = {
  [Name in SheetName<Fs>]: Fs[Name]['kind'] extends 'flag' ? Name : never
}[SheetName<Fs>]

export interface SheetOptions<Fs extends Fields> {
  /** Choices whose cells show their labels. A header here adds a column of that name with the stored value. */
  inWords?: { readonly [Name in SheetName<Fs>]?: true | { storedHeader: string } }
  /** The text of a cell for each value of a flag. */
  flags: { readonly [Name in FlagName<Fs>]: readonly [whenTrue: string, whenFalse: string] }
  /** The fields whose columns come first, if the columns are not in the order of the fields. */
  first?: readonly SheetName<Fs>[]
}

/** Returns the fields of a spreadsheet in the order of its columns. */
export function sheetNames<Fs extends Fields>(fields: Fs, first: readonly SheetName<Fs>[] = []): SheetName<Fs>[] {
  const names = Object.keys(fields).filter((name) => fields[name]!.sheetWidth !== undefined) as SheetName<Fs>[]
  return [...first, ...names.filter((name) => !first.includes(name))]
}

/** Returns the columns of a spreadsheet, for rows of the fields that `sheetNames` returns, with timestamps in milliseconds. */
export function sheetColumns<const Fs extends Fields>(fields: Fs, { flags, first, inWords = {} }: SheetOptions<Fs>): Column[] {
  return sheetNames(fields, first).flatMap((name, index): Column[] => {
    const field: Field = fields[name]!
    const words = inWords[name]
    const header = field.kind === 'moment' ? `${field.label} (UTC)` : field.label
    const column = { header, width: field.sheetWidth ?? 0, kind: cellKinds[field.kind], field: index }
    if (field.kind === 'flag') {
      const [t, f] = (flags as Readonly<Record<string, readonly [string, string]>>)[name]!
      return [{ ...column, words: { t, f } }] // PostgreSQL's text for booleans
    }
    if (!words) return [column]
    const inItsWords = field.kind === 'choice' ? { ...column, words: field.options } : column
    return words === true ? [inItsWords] : [inItsWords, { ...column, header: words.storedHeader }]
  })
}

const cellKinds = {
  text: 'text',
  choice: 'text',
  flag: 'text',
  number: 'number',
  integer: 'integer',
  moment: 'date',
} as const satisfies Record<Field['kind'], Column['kind']>

/** Returns the values of a row in memory for the columns of `sheetColumns`. */
export function sheetValues(fields: Fields, row: SheetRow): (SheetRow[string] | Date)[] {
  return sheetNames(fields).map((name) => (fields[name]!.kind === 'moment' ? toDate(row[name]) : row[name]))
}

/** A timestamp as milliseconds since 1970 or as text. */
function toDate(moment: SheetRow[string]): Date | null {
  if (moment === null || moment === undefined || typeof moment === 'boolean') return null
  const date = new Date(typeof moment === 'string' && /^\d+$/.test(moment) ? Number(moment) : moment)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Returns the spreadsheet of a list. */
export interface ListSheet<Fs extends Fields> extends SheetOptions<Fs> {
  sheetName: string
}

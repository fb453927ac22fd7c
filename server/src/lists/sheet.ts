/** The columns of spreadsheets, derived from the fields that the contract declares: header, width and kind of cell. */
import type { Field, Fields, SheetName } from '@arcade/contract/entity'
import type { Column } from '#src/sheets/cells.ts'

/** A row that is at hand, with moments in milliseconds or as texts. */
export type SheetRow = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Fields that a cell cannot show as they are. */
type FlagName<Fs extends Fields> = {
  [Name in SheetName<Fs>]: Fs[Name]['kind'] extends 'flag' ? Name : never
}[SheetName<Fs>]

export interface SheetOptions<Fs extends Fields> {
  /** Choices whose cells say the words that people read; with a header, a further column of that name keeps what is stored. */
  inWords?: { readonly [Name in SheetName<Fs>]?: true | { storedHeader: string } }
  /** What a cell says for each value of a flag. */
  flags: { readonly [Name in FlagName<Fs>]: readonly [whenTrue: string, whenFalse: string] }
  /** Where the columns do not stand in the order of the fields: these come first, the others after them. */
  first?: readonly SheetName<Fs>[]
}

/** The fields of a spreadsheet in the order of its columns. */
export function sheetNames<Fs extends Fields>(fields: Fs, first: readonly SheetName<Fs>[] = []): SheetName<Fs>[] {
  const names = Object.keys(fields).filter((name) => fields[name]!.sheetWidth !== undefined) as SheetName<Fs>[]
  return [...first, ...names.filter((name) => !first.includes(name))]
}

/** The columns of a spreadsheet as the contract declares them, for rows of the fields that `sheetNames` gives, with moments in milliseconds. */
export function sheetColumns<const Fs extends Fields>(fields: Fs, { flags, first, inWords = {} }: SheetOptions<Fs>): Column[] {
  return sheetNames(fields, first).flatMap((name, index): Column[] => {
    const field: Field = fields[name]!
    const words = inWords[name]
    const column = { header: field.label, width: field.sheetWidth ?? 0, kind: cellKinds[field.kind], field: index }
    if (field.kind === 'flag') {
      const [t, f] = (flags as Readonly<Record<string, readonly [string, string]>>)[name]!
      return [{ ...column, words: { t, f } }] // PostgreSQL's words
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
  integer: 'number',
  moment: 'date',
} as const satisfies Record<Field['kind'], Column['kind']>

/** The values of a row at hand for the columns of `sheetColumns`. */
export function sheetValues(fields: Fields, row: SheetRow): (SheetRow[string] | Date)[] {
  return sheetNames(fields).map((name) => (fields[name]!.kind === 'moment' ? toDate(row[name]) : row[name]))
}

/** Milliseconds since 1970, or any text that names a moment. */
function toDate(moment: SheetRow[string]): Date | null {
  if (moment === null || moment === undefined || typeof moment === 'boolean') return null
  const date = new Date(typeof moment === 'string' && /^\d+$/.test(moment) ? Number(moment) : moment)
  return Number.isNaN(date.getTime()) ? null : date
}

/** The spreadsheet of a list. */
export interface ListSheet<Fs extends Fields> extends SheetOptions<Fs> {
  sheetName: string
}

/** The columns of spreadsheets, derived from the fields that the contract declares: header, width and kind of cell. */
import type { Field, Fields, SheetName } from '@arcade/contract/entities/entity'
import type { Column } from '#src/sheets/spreadsheet.ts'

/** A row as `selectList` gives it, with moments in milliseconds. */
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

/** The columns of a spreadsheet as the contract declares them. */
export function sheetColumns<const Fs extends Fields>(
  fields: Fs,
  { flags, first, inWords = {} }: SheetOptions<Fs>,
): Column<SheetRow>[] {
  return sheetNames(fields, first).flatMap((name): Column<SheetRow>[] => {
    const words = inWords[name]
    const column = sheetColumn(name)
    if (!words) return [column]
    const inItsWords = {
      ...column,
      kind: 'text',
      value: (row: SheetRow) => wordOf(fields[name]!, row[name] as string | null),
    } as const
    return words === true ? [inItsWords] : [inItsWords, { ...column, header: words.storedHeader }]
  })

  function sheetColumn(name: SheetName<Fs>): Column<SheetRow> {
    const { kind, label: header, sheetWidth: width = 0 } = fields[name]!
    if (kind === 'moment') return { header, width, kind: 'date', value: (row) => toDate(row[name]) }
    if (kind === 'number' || kind === 'integer')
      return { header, width, kind: 'number', value: (row) => row[name] as number | null }
    if (kind !== 'flag') return { header, width, kind: 'text', value: (row) => row[name] as string | null }
    const [whenTrue, whenFalse] = (flags as Readonly<Record<string, readonly [string, string]>>)[name]!
    return { header, width, kind: 'text', value: (row) => (row[name] === true ? whenTrue : whenFalse) }
  }
}

function wordOf(field: Field, value: string | null): string | null {
  return field.kind === 'choice' && value !== null ? (field.options[value] ?? value) : value
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

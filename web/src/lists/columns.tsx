/** The columns of a list's table. Every field of the entity needs a column or `false`, otherwise the code does not compile. */
import type { Field, Fields, List, RowOf } from '@arcade/contract/entity'
import type { Needs } from '@arcade/contract/team/permissions'
import type { ReactNode } from 'react'
import { type Column, Missing } from './table-cells.tsx'
import { Moment } from '#src/ui/moment.tsx'

/** How a column differs from its field's declaration. */
interface Cell<Row> {
  /** Replaces the field's label. */
  header?: string
  align?: 'end'
  /** The word for a missing value, such as `not available`. */
  missing?: string
  /** Cells are buttons that open the View More dialog. */
  viewMore?: true
  /** Hidden until the operator chooses it, because §2 does not list it. */
  isHiddenAtFirst?: true
  /** The permission without which the column is left out. A personal field needs `players.personal` by default. */
  needs?: Needs
  /** The least width in rem, the share of the room that is left, and whether longer texts have two lines; see `DataTable`. */
  width?: number
  grow?: number
  isTwoLines?: true
  /** The cell's position on a phone, see `DataTable`. */
  card?: Column<Row>['card']
  /** An icon with a name before the value. */
  mark?: (row: Row) => ReactNode
  /** Replaces the field's value. */
  value?: (row: Row) => string | number | null
  /** Renders the cell. `number` is the row's position in the list, from 1. */
  render?: (row: Row, number: number) => ReactNode
}

/**
 * The columns in table order, by field name; `false` for a field without a column. Any other key is the header of a column without a field,
 * such as the buttons of a row.
 */
export type Cells<Fs extends Fields> = Record<keyof Fs, Cell<RowOf<Fs>> | false> & Record<string, Cell<RowOf<Fs>> | false>

/** Returns the columns of a list's table. Headers, alignment and sort come from the list's declaration. */
export function listColumns<L extends List>(list: L, cells: Cells<L['fields']>): readonly Column<RowOf<L['fields']>>[] {
  return Object.entries(cells).flatMap(([name, cell]) => (cell ? [listColumn(list, name, cell)] : []))
}

function listColumn<Row extends object>(list: List, name: string, cell: Cell<Row>): Column<Row> {
  const field = list.fields[name]
  const [sort, order] = Object.entries(list.sorts).find(([, { field: sorted }]) => sorted === name) ?? []
  const needs = cell.needs ?? (field?.isPersonal ? 'players.personal' : undefined)
  const base = {
    header: cell.header ?? field?.label ?? name,
    ...(sort !== undefined && { sort, isDescending: order?.isDescending ?? false }),
    ...(cell.isHiddenAtFirst && { isHiddenAtFirst: true }),
    ...(needs && { needs }),
    ...(cell.card && { card: cell.card }),
    ...(cell.width !== undefined && { width: cell.width }),
    ...(cell.grow !== undefined && { grow: cell.grow }),
    ...(cell.isTwoLines && { isTwoLines: true }),
  }
  const { render, missing, mark, viewMore = false, align = alignment(field, cell) } = cell
  const aligned = { ...base, ...(align && { align }) }
  if (render) return { ...aligned, render }
  const fieldValue = (row: Row): unknown => row[name as keyof Row]
  if (!cell.value && field?.kind === 'moment') {
    return {
      ...aligned,
      render: (row) => {
        const moment = fieldValue(row)
        return typeof moment === 'string' ? <Moment iso={moment} /> : <Missing text={missing ?? ''} />
      },
    }
  }
  const value = cell.value ?? ((row: Row) => displayText(fieldValue(row), field))
  return { ...aligned, value, viewMore, ...(missing !== undefined && { missing }), ...(mark && { mark }) }
}

/** Numbers are aligned at the end of the cell. */
function alignment<Row>(field: Field | undefined, { render }: Cell<Row>): 'end' | undefined {
  return !render && (field?.kind === 'number' || field?.kind === 'integer') ? 'end' : undefined
}

function displayText(value: unknown, field: Field | undefined): string | number | null {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value !== 'string') return typeof value === 'number' ? value : null
  return field?.kind === 'choice' ? (field.options[value] ?? value) : value
}

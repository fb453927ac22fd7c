/** The columns of a list's table: one for every field of the entity, or a word that it has none. A field that is forgotten does not compile. */
import type { Field, Fields, List, RowOf } from '@arcade/contract/entity'
import type { ReactNode } from 'react'
import { type Column, Missing } from './data-table.tsx'
import { Moment } from '#src/ui/moment.tsx'

/** How a column differs from what its field's declaration says about it. */
interface Cell<Row> {
  /** Instead of the field's label. */
  header?: string
  align?: 'end'
  /** Stands for a missing value, literally. */
  missing?: string
  /** The cells are buttons that open the View More dialog. */
  viewMore?: true
  /** One has to choose the column to see it: §2 does not list it. */
  isHiddenAtFirst?: true
  /** The cell's place on a phone, see `DataTable`. */
  card?: Column<Row>['card']
  /** Stands before the value: an icon with a name. */
  mark?: (row: Row) => ReactNode
  /** Instead of the field's value. */
  value?: (row: Row) => string | number | null
  /** Instead of a text; `number` counts the list's rows from 1. */
  render?: (row: Row, number: number) => ReactNode
}

/**
 * A column by each field's name, in the order of the table; `false` for a field that has none. Any other key is the header of a column
 * that is no field's, such as a row's buttons.
 */
export type Cells<Fs extends Fields> = Record<keyof Fs, Cell<RowOf<Fs>> | false> & Record<string, Cell<RowOf<Fs>> | false>

/** The columns of a list's table. Their order, header, alignment and sort follow from the list's declaration. */
export function listColumns<L extends List>(list: L, cells: Cells<L['fields']>): readonly Column<RowOf<L['fields']>>[] {
  return Object.entries(cells).flatMap(([name, cell]) => (cell ? [listColumn(list, name, cell)] : []))
}

function listColumn<Row extends object>(list: List, name: string, cell: Cell<Row>): Column<Row> {
  const field = list.fields[name]
  const [sort, order] = Object.entries(list.sorts).find(([, { field: sorted }]) => sorted === name) ?? []
  const base = {
    header: cell.header ?? field?.label ?? name,
    ...(sort !== undefined && { sort, isDescending: order?.isDescending ?? false }),
    ...(cell.isHiddenAtFirst && { isHiddenAtFirst: true }),
    ...(cell.card && { card: cell.card }),
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

/** Figures stand at the end of their cell. */
function alignment<Row>(field: Field | undefined, { render }: Cell<Row>): 'end' | undefined {
  return !render && (field?.kind === 'number' || field?.kind === 'integer') ? 'end' : undefined
}

function displayText(value: unknown, field: Field | undefined): string | number | null {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value !== 'string') return typeof value === 'number' ? value : null
  return field?.kind === 'choice' ? (field.options[value] ?? value) : value
}

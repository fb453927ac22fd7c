/** The rows and cells of a table: values as text, words for missing values, View More, checkboxes of picked rows, cards that unfold. */
import type { Needs } from '@arcade/contract/team/permissions'
import { isBlank } from '@arcade/contract/text'
import { IconChevronDown } from '@tabler/icons-react'
import { memo, type MouseEvent, type ReactNode, useCallback, useState } from 'react'
import { markedText, namedText } from '#src/ui/marked-text.tsx'
import { exactly } from '#src/ui/numbers.ts'
import { roles } from '#src/ui/table-roles.ts'
import { opensRow } from '#src/ui/table-rows.ts'
import type { useViewMore } from '#src/ui/view-more.tsx'
import classes from './data-table.module.css'
import type { PickRow } from './selection.tsx'

interface ColumnBase {
  /** The header's text, also the name of the value in View More. */
  header: string
  /** Numbers and buttons are aligned at the end, text at the start. */
  align?: 'end'
  /** The sort that a click on the header requests. */
  sort?: string
  /** This sort is descending, unless it is reversed. */
  isDescending?: boolean
  /** Hidden until the operator chooses it. */
  isHiddenAtFirst?: boolean
  /** The permission without which `ListTable` leaves the column out. */
  needs?: Needs
  /** The least width of the content in rem. If one column of a table has it, all need it (column-widths.ts). */
  width?: number
  /** The column's share of the room that the least widths leave. */
  grow?: number
  /** Longer texts have two lines, unless rows are compact. */
  isTwoLines?: boolean
  /**
   * The cell's position on a phone, where every row is a card: the `title`, the line below it (`start`, `end`), or one of the details. A
   * `wide` detail takes a whole line, a `fold` detail shows only in an unfolded card.
   */
  card?: 'title' | 'start' | 'end' | 'wide' | 'fold'
}

/** A column that shows a value as text. */
interface ValueColumn<Row> extends ColumnBase {
  value: (row: Row) => string | number | null | undefined
  /** The word for a missing value, such as `undefined` or `not available`. */
  missing?: string
  /** Cells are buttons that open the View More dialog. */
  viewMore?: boolean
  /** An icon with a name before the value. */
  mark?: (row: Row) => ReactNode
}

/** A column with its own rendering. `number` is the row's position in the whole list, from 1. */
interface NodeColumn<Row> extends ColumnBase {
  render: (row: Row, number: number) => ReactNode
}

export type Column<Row> = ValueColumn<Row> | NodeColumn<Row>

interface CellsProps {
  row: unknown
  number: number
  columns: readonly Column<unknown>[]
  hidden: ReadonlySet<string>
  onOpen: ReturnType<typeof useViewMore>['open']
}

interface TableRowProps extends CellsProps {
  id: string
  /** The row is a card, because the window is that of a phone. */
  isCard: boolean
  /** Undefined while rows cannot be picked. */
  isPicked: boolean | undefined
  onPick: PickRow
}

/** Memoised, so that picking a row redraws only its checkbox. */
export const TableRow = memo(function TableRow({ id, isCard, isPicked, onPick, ...cells }: TableRowProps) {
  const [isUnfolded, setIsUnfolded] = useState(false)
  const handleFold = useCallback(() => setIsUnfolded((was) => !was), [])
  const hasFold = isCard && cells.columns.some(({ card, header }) => card === 'fold' && !cells.hidden.has(header))

  /** A tap anywhere on a card picks it. The keyboard, whose clicks have no `detail`, uses the controls of the card. */
  const handleTap = (event: MouseEvent) => {
    const isOwnControl = event.target instanceof Element && event.target.closest('input, [data-fold]') !== null
    if (isPicked === undefined || event.detail === 0 || isOwnControl) return
    event.preventDefault()
    event.stopPropagation()
    onPick(id, !isPicked, false)
  }

  return (
    <tr
      {...roles.row}
      data-picked={isPicked || undefined}
      data-open={isUnfolded || undefined}
      tabIndex={-1}
      {...(isCard && { onClickCapture: handleTap })}
    >
      {isPicked !== undefined && (
        <td {...roles.cell} className={classes['pick']}>
          <input
            type="checkbox"
            aria-label={`Select row ${cells.number}`}
            checked={isPicked}
            onChange={({ target, nativeEvent }) =>
              onPick(id, target.checked, 'shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
            }
          />
        </td>
      )}
      <Cells {...cells} {...(hasFold && { isUnfolded, onFold: handleFold })} />
    </tr>
  )
})

interface FoldProps {
  isUnfolded?: boolean
  /** Folds and unfolds the card; undefined if there is nothing to unfold. */
  onFold?: () => void
}

const Cells = memo(function Cells({ row, number, columns, hidden, onOpen, isUnfolded, onFold }: CellsProps & FoldProps) {
  return columns.map((column) =>
    hidden.has(column.header) ? null : (
      <td
        {...roles.cell}
        key={column.header}
        data-align={column.align}
        data-column={column.header}
        data-card={column.card}
        data-two-lines={column.isTwoLines}
      >
        {'render' in column ? column.render(row, number) : valueOf(column, row, onOpen)}
        {column.card === 'title' && onFold && (
          <button
            type="button"
            className={classes['fold']}
            data-fold=""
            aria-label={`All fields of row ${number}`}
            aria-expanded={isUnfolded}
            onClick={onFold}
          >
            <IconChevronDown size={20} aria-hidden />
          </button>
        )}
      </td>
    ),
  )
})

/** Functions and not components: a list of fifty rows has several hundred values. */
function valueOf(column: ValueColumn<unknown>, row: unknown, onOpen: CellsProps['onOpen']): ReactNode {
  const mark = column.mark?.(row)
  const shown = shownValue(column, column.value(row), onOpen)
  return mark ? <Marked mark={mark}>{shown}</Marked> : shown
}

function shownValue(
  { header, missing = '', viewMore, card }: ValueColumn<unknown>,
  value: string | number | null | undefined,
  onOpen: CellsProps['onOpen'],
): ReactNode {
  if (value === null || value === undefined || (typeof value === 'string' && isBlank(value)))
    return <span className={classes['missing']}>{missing}</span>
  const text = typeof value === 'number' ? exactly(value) : value
  if (!viewMore) {
    return (
      <span className={classes['value']} title={namedText(text)}>
        {markedText(text)}
      </span>
    )
  }
  return (
    <button
      type="button"
      className={classes['more']}
      aria-haspopup="dialog"
      onClick={() => onOpen({ label: header, text })}
      {...(card === 'title' && opensRow)}
    >
      {markedText(text)}
    </button>
  )
}

interface MoreButtonProps {
  children: string
  onClick: () => void
  /** Shows up to three lines instead of one. */
  isTall?: boolean
  /** What the dialog shows, if that is not the whole text. */
  title?: string
}

/** A shortened text that opens a dialog with the whole text. */
export function MoreButton({ isTall = false, children, ...props }: MoreButtonProps) {
  return (
    <button type="button" className={classes['more']} data-tall={isTall || undefined} aria-haspopup="dialog" {...props}>
      {children}
    </button>
  )
}

/** A value with an icon before it, on one line. */
export function Marked({ mark, children }: { mark: ReactNode; children: ReactNode }) {
  if (!mark) return children
  return (
    <span className={classes['marked']}>
      {mark}
      {children}
    </span>
  )
}

/** The word for a missing value, lighter than data. */
export function Missing({ text }: { text: string }) {
  return <span className={classes['missing']}>{text}</span>
}

export function RowActions({ children }: { children: ReactNode }) {
  return <div className={classes['actions']}>{children}</div>
}

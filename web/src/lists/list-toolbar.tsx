/**
 * The toolbar of a list: search box, filters, a chip for each active filter, and the choice of columns and density. A phone shows the search
 * and the filters; the rest is in a sheet.
 */
import { MAX_SEARCH_LENGTH } from '@arcade/contract/entity'
import { firstCharacters } from '@arcade/contract/text'
import { Button, TextInput } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconDots, IconSearch } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Choice } from '#src/ui/choice.tsx'
import { Choices } from './choices.tsx'
import type { Filter, FilterValue, FilterValues } from './filter-words.ts'
import { FilterChips, FiltersPane } from './filters.tsx'
import classes from './list-toolbar.module.css'
import { Pane } from '#src/ui/pane.tsx'
import { useIsPhone } from '#src/ui/window-width.ts'
import { moveToRow } from '#src/ui/table-rows.ts'
import { isOffered } from './toolbar-filters.ts'
import { isShown, type TableLook } from './table-look.ts'

const SEARCH_AFTER_MS = 200

interface ListToolbarProps {
  /** The accessible name of the search box: `Search users`. */
  searchLabel: string
  search: string
  onSearch: (search: string) => void
  /** A hint about the current search. */
  hint?: string
  /** What was left out of the address. */
  unread?: string | undefined
  filters?: readonly Filter[]
  values?: FilterValues
  onFilter?: (values: Record<string, FilterValue>) => void
  /** How many rows match, in words. */
  found?: string | undefined
  /** Further fields, such as the page size. */
  children?: ReactNode
  /** A notice about the list, such as a button that shows newer rows. */
  notice?: ReactNode
  /** The pane with the table's look, at the end of the row. */
  view?: ReactNode
  /** Opens and closes the selection. */
  select?: { isOpen: boolean; onToggle: () => void } | undefined
}

export function ListToolbar(props: ListToolbarProps) {
  const { searchLabel, search, onSearch, hint, filters = [], values = {}, onFilter = () => {} } = props
  const { unread, found, children, notice, view, select } = props
  const isPhone = useIsPhone()
  const [isMoreOpen, setIsMoreOpen] = useState(false)
  const active = filters.filter(({ name }) => values[name] !== undefined)
  const offered = filters.filter(isOffered)
  return (
    <div className={classes['toolbar']}>
      <div className={classes['row']}>
        <SearchBox label={searchLabel} value={search} onChange={onSearch} />
        {offered.length > 0 && (
          <FiltersPane filters={offered} values={values} active={active.length} found={found} onFilter={onFilter} />
        )}
        {isPhone ? (
          <>
            {select?.isOpen && <SelectButton {...select} />}
            <Pane
              isOpen={isMoreOpen}
              onChange={setIsMoreOpen}
              title="More"
              className={classes['sheet']}
              button={{ px: 0, 'aria-label': 'More', children: <IconDots size={20} aria-hidden /> }}
            >
              {children}
              {view}
              {select && (
                <SelectButton
                  isOpen={select.isOpen}
                  onToggle={() => {
                    setIsMoreOpen(false)
                    select.onToggle()
                  }}
                />
              )}
            </Pane>
          </>
        ) : (
          <>
            {children}
            <div className={classes['end']}>
              {view}
              {select && <SelectButton {...select} />}
            </div>
          </>
        )}
        {notice}
      </div>
      <output className={classes['hint']}>
        {unread !== undefined && <span className={classes['unread']}>{unread}</span>}
        {hint}
      </output>
      {active.length > 0 && <FilterChips active={active} values={values} onFilter={onFilter} />}
    </div>
  )
}

function SelectButton({ isOpen, onToggle }: NonNullable<ListToolbarProps['select']>) {
  return (
    <Button variant={isOpen ? 'light' : 'default'} aria-pressed={isOpen} onClick={onToggle}>
      Select
    </Button>
  )
}

/** Reports its text 200 ms after the last key. Escape clears it. */
function SearchBox({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  const [reported, setReported] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  // The search was changed from outside: by Back, Forward or a link.
  if (value !== reported) {
    setReported(value)
    setText(value)
  }

  const report = (next: string) => {
    clearTimeout(timer.current)
    if (next.trim() === reported) return
    setReported(next.trim())
    onChange(next.trim())
  }
  const handleChange = (typed: string) => {
    const next = firstCharacters(typed, MAX_SEARCH_LENGTH)
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(report, SEARCH_AFTER_MS, next)
  }

  return (
    <TextInput
      type="search"
      className={classes['search'] ?? ''}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={18} aria-hidden />}
      value={text}
      onChange={({ target }) => handleChange(target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') report(text)
        if (event.key === 'ArrowDown' && moveToRow(1)) event.preventDefault()
        if (event.key !== 'Escape' || text === '') return
        setText('')
        report('')
      }}
    />
  )
}

interface ViewPaneProps {
  columns: readonly { header: string; isHiddenAtFirst?: boolean; card?: string }[]
  look: TableLook
  onChange: (look: TableLook) => void
}

/** The pane with the choice of columns and density. */
export function ViewPane({ columns, look, onChange }: ViewPaneProps) {
  const changed = columns.filter(({ header }) => look.changed.includes(header))
  const shown = columns.filter((column) => isShown(column, look.changed))
  const handleColumn = (header: string) => {
    const others = look.changed.filter((one) => one !== header)
    onChange({ ...look, changed: others.length === look.changed.length ? [...others, header] : others })
  }
  /** The title column, which always stays: a table cannot be without columns. */
  const title = columns.find(({ card }) => card === 'title') ?? columns[0]
  const showOnly = (wanted: readonly unknown[]) =>
    onChange({
      ...look,
      changed: columns.filter((column) => wanted.includes(column) !== isShown(column, [])).map(({ header }) => header),
    })
  return (
    <Choices label="View" icon={<IconAdjustmentsHorizontal size={18} aria-hidden />} count={changed.length}>
      <Choice checked={look.isCompact} onChange={({ target }) => onChange({ ...look, isCompact: target.checked })}>
        Compact rows
      </Choice>
      <fieldset className={classes['columns']}>
        <legend>Columns</legend>
        <div className={classes['allOrNone']}>
          <Button variant="default" size="compact-sm" onClick={() => showOnly(columns)}>
            All
          </Button>
          <Button variant="default" size="compact-sm" onClick={() => showOnly([title])}>
            None
          </Button>
        </div>
        {columns.map((column) => (
          <Choice
            key={column.header}
            checked={shown.includes(column)}
            disabled={shown.length === 1 && shown.includes(column)}
            onChange={() => handleColumn(column.header)}
          >
            {column.header}
          </Choice>
        ))}
      </fieldset>
      <Button variant="subtle" size="compact-md" onClick={() => onChange({ changed: [], isCompact: false })}>
        Reset
      </Button>
    </Choices>
  )
}

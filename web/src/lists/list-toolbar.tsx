/** The toolbar of a list: the search box, the filters, a chip for every active filter, and the choice of columns and density. */
import { SEARCH_MAX_LENGTH } from '@arcade/contract/entity'
import { Button, CloseButton, NativeSelect, Popover, TextInput } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconFilter, IconSearch } from '@tabler/icons-react'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Choice } from '#src/ui/choice.tsx'
import classes from './list-toolbar.module.css'
import { inputText } from '#src/ui/moment.tsx'
import { NumberInput } from '#src/ui/number-input.tsx'
import { focusSearch, moveToRow } from '#src/ui/table-rows.ts'
import { isShown, type TableLook } from './table-view.ts'

const FIRST_TOLD_DAY = '1000-01-01'
const SEARCH_AFTER_MS = 200

interface FilterBase {
  /** The key of the filter's value in `values`. */
  name: string
  label: string
}

export type Filter = FilterBase &
  ({ kind: 'choice'; options: readonly { value: string; label: string }[] } | { kind: 'number' } | { kind: 'day' | 'minute' })

export type FilterValue = string | number | undefined

interface ListToolbarProps {
  /** The name of the search box: `Search users`. */
  searchLabel: string
  search: string
  onSearch: (search: string) => void
  /** What is worth knowing about this search. */
  hint?: string
  filters?: readonly Filter[]
  values?: Readonly<Record<string, FilterValue>>
  onFilter?: (values: Record<string, FilterValue>) => void
  /** Further fields, such as the page size. */
  children?: ReactNode
  /** The table's buttons, at the end of the row. */
  end?: ReactNode
}

export function ListToolbar(props: ListToolbarProps) {
  const { searchLabel, search, onSearch, hint, filters = [], values = {}, onFilter = () => {}, children, end } = props
  const active = filters.filter(({ name }) => values[name] !== undefined)
  const clear = (cleared: readonly Filter[]) => {
    focusSearch() // the button goes
    onFilter(Object.fromEntries(cleared.map(({ name }) => [name, undefined])))
  }
  /** What there is no choice of is set by a link, and only its chip is seen here. */
  const offered = filters.filter((filter) => filter.kind !== 'choice' || filter.options.length > 0)
  return (
    <div className={classes['toolbar']} data-page-head>
      <div className={classes['row']}>
        <SearchBox label={searchLabel} value={search} onChange={onSearch} />
        {offered.length > 0 && <Filters filters={offered} values={values} active={active.length} onFilter={onFilter} />}
        {children}
        {end && <div className={classes['end']}>{end}</div>}
      </div>
      <output className={classes['hint']}>{hint}</output>
      {active.length > 0 && (
        <ul className={classes['chips']} aria-label="Active filters">
          {active.map((filter) => (
            <li key={filter.name} className={classes['chip']}>
              <span className={classes['chipText']}>
                {filter.label}: {filterText(filter, values[filter.name])}
              </span>
              <CloseButton size="sm" aria-label={`Remove filter ${filter.label}`} onClick={() => clear([filter])} />
            </li>
          ))}
          <li>
            <Button variant="subtle" size="compact-sm" onClick={() => clear(active)}>
              Clear filters
            </Button>
          </li>
        </ul>
      )}
    </div>
  )
}

function filterText(filter: Filter, value: FilterValue): string {
  if (filter.kind === 'choice') return filter.options.find((option) => option.value === value)?.label ?? String(value)
  if (filter.kind === 'day' || filter.kind === 'minute') return inputText(String(value))
  return typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 20 }) : String(value)
}

/** Reports its text a moment after the last key. Escape empties it. */
function SearchBox({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  const [told, setTold] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  // The text has been changed from outside: by back, forward or a link.
  if (value !== told) {
    setTold(value)
    setText(value)
  }

  const tell = (next: string) => {
    clearTimeout(timer.current)
    if (next.trim() === told) return
    setTold(next.trim())
    onChange(next.trim())
  }
  const handleChange = (next: string) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(tell, SEARCH_AFTER_MS, next)
  }

  return (
    <TextInput
      type="search"
      className={classes['search'] ?? ''}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={18} aria-hidden />}
      maxLength={SEARCH_MAX_LENGTH}
      value={text}
      onChange={({ target }) => handleChange(target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') tell(text)
        if (event.key === 'ArrowDown' && moveToRow(1)) event.preventDefault()
        if (event.key !== 'Escape' || text === '') return
        setText('')
        tell('')
      }}
    />
  )
}

interface FiltersProps {
  filters: readonly Filter[]
  values: Readonly<Record<string, FilterValue>>
  active: number
  onFilter: (values: Record<string, FilterValue>) => void
}

function Filters({ filters, values, active, onFilter }: FiltersProps) {
  return (
    <Pane label="Filters" icon={<IconFilter size={18} aria-hidden />} count={active}>
      {filters.map((filter) => (
        <FilterField
          key={filter.name}
          filter={filter}
          value={values[filter.name]}
          onChange={(value) => onFilter({ [filter.name]: value })}
        />
      ))}
    </Pane>
  )
}

interface FilterFieldProps {
  filter: Filter
  value: FilterValue
  onChange: (value: FilterValue) => void
}

function FilterField({ filter, value, onChange }: FilterFieldProps) {
  const { label, kind } = filter
  if (kind === 'choice') {
    return (
      <NativeSelect
        label={label}
        value={value ?? ''}
        data={[{ value: '', label: 'Any' }, ...filter.options]}
        onChange={({ target }) => onChange(target.value || undefined)}
      />
    )
  }
  if (kind === 'day' || kind === 'minute') {
    return <DayFilter label={label} type={kind === 'day' ? 'date' : 'datetime-local'} value={value} onChange={onChange} />
  }
  return <NumberFilter label={label} value={value} onChange={onChange} />
}

/** What is typed in a field, until the filter gets another value from outside: by back, a chip or a link. */
function useTyped<Value>(value: Value): [Value, (typed: Value) => void] {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (value !== known) {
    setKnown(value)
    setTyped(value)
  }
  return [typed, setTyped]
}

/** Escape closes the pane, which leaves the field: what was typed there is then not meant. */
function useCommit(commit: () => void) {
  const isGivenUp = useRef(false)
  return {
    onFocus: () => {
      isGivenUp.current = false
    },
    onBlur: () => isGivenUp.current || commit(),
    onKeyDown: ({ key }: { key: string }) => {
      isGivenUp.current = key === 'Escape'
      if (key === 'Enter') commit()
    },
  }
}

interface DayFilterProps extends Omit<FilterFieldProps, 'filter'> {
  label: string
  type: 'date' | 'datetime-local'
}

/** While a year is typed, its first digits are a day long ago, which nobody asks for: such a day is only told when one leaves the field. */
function DayFilter({ label, type, value = '', onChange }: DayFilterProps) {
  const [typed, setTyped] = useTyped(String(value))
  const tell = (day: string) => {
    if (day !== value) onChange(day || undefined)
  }
  const committing = useCommit(() => tell(typed))
  const handleChange = (day: string) => {
    setTyped(day)
    if (day >= FIRST_TOLD_DAY) tell(day)
  }
  return (
    <TextInput type={type} label={label} value={typed} onChange={({ target }) => handleChange(target.value)} {...committing} />
  )
}

/** Reports its number when one leaves it or presses Enter; what is no number is not asked for. */
function NumberFilter({ label, value, onChange }: Omit<FilterFieldProps, 'filter'> & { label: string }) {
  const [typed, setTyped] = useTyped(value)
  const isNumber = typeof typed !== 'string'
  const committing = useCommit(() => {
    if (isNumber && typed !== value) onChange(typed)
  })
  return (
    <NumberInput
      label={label}
      value={typed}
      error={!isNumber && `${label} must be a number`}
      onChange={setTyped}
      {...committing}
    />
  )
}

interface PaneProps {
  label: string
  icon: ReactNode
  /** How many of its choices are in use. */
  count?: number
  children: ReactNode
}

/** A button that opens a pane of choices. */
function Pane({ label, icon, count = 0, children }: PaneProps) {
  const id = useId()
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      closeOnEscape={false} // before a field would hear of it
      trapFocus
      returnFocus
      position="bottom-start"
      shadow="md"
      withinPortal
    >
      <Popover.Target>
        <Button variant="default" leftSection={icon} onClick={() => setIsOpen(!isOpen)}>
          {label}
          {count > 0 && <span className={classes['count']}>{count}</span>}
        </Button>
      </Popover.Target>
      <Popover.Dropdown
        aria-labelledby={id}
        className={classes['pane'] ?? ''}
        onKeyDown={({ key }) => key === 'Escape' && setIsOpen(false)}
      >
        <h2 id={id} className={classes['paneTitle']}>
          {label}
        </h2>
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}

interface ViewPaneProps {
  columns: readonly { header: string; isHiddenAtFirst?: boolean; card?: string }[]
  look: TableLook
  onChange: (look: TableLook) => void
}

/** The pane in which one chooses the columns and the density. */
export function ViewPane({ columns, look, onChange }: ViewPaneProps) {
  const changed = columns.filter(({ header }) => look.changed.includes(header))
  const shown = columns.filter((column) => isShown(column, look.changed))
  const handleColumn = (header: string) => {
    const others = look.changed.filter((one) => one !== header)
    onChange({ ...look, changed: others.length === look.changed.length ? [...others, header] : others })
  }
  /** A table without any column is none: the one that says what a row is about stays. */
  const title = columns.find(({ card }) => card === 'title') ?? columns[0]
  const showOnly = (wanted: readonly unknown[]) =>
    onChange({
      ...look,
      changed: columns.filter((column) => wanted.includes(column) !== isShown(column, [])).map(({ header }) => header),
    })
  return (
    <Pane label="View" icon={<IconAdjustmentsHorizontal size={18} aria-hidden />} count={changed.length}>
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
    </Pane>
  )
}

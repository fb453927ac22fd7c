/**
 * The toolbar of a list: search box, filters, a chip for each active filter, and the choice of columns and density. A phone shows the search
 * and the filters; the rest is in a sheet.
 */
import { SEARCH_MAX_LENGTH } from '@arcade/contract/entity'
import { firstCharacters } from '@arcade/contract/text'
import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconDots, IconFilter, IconSearch } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Choice } from '#src/ui/choice.tsx'
import classes from './list-toolbar.module.css'
import { inputText } from '#src/ui/moment.tsx'
import { NumberInput } from '#src/ui/number-input.tsx'
import { exactly } from '#src/ui/numbers.ts'
import { Pane } from '#src/ui/pane.tsx'
import { useIsPhone } from '#src/ui/phone.ts'
import { focusSearch, moveToRow } from '#src/ui/table-rows.ts'
import { isShown, type TableLook } from './table-view.ts'

const FIRST_REPORTED_DAY = '1000-01-01'
const SEARCH_AFTER_MS = 200

interface FilterBase {
  /** The filter's key in `values`. */
  name: string
  label: string
}

export type Filter = FilterBase &
  ({ kind: 'choice'; options: readonly { value: string; label: string }[] } | { kind: 'number' } | { kind: 'day' | 'minute' })

export type FilterValue = string | number | undefined

interface ListToolbarProps {
  /** The accessible name of the search box: `Search users`. */
  searchLabel: string
  search: string
  onSearch: (search: string) => void
  /** A hint about the current search. */
  hint?: string
  filters?: readonly Filter[]
  values?: Readonly<Record<string, FilterValue>>
  onFilter?: (values: Record<string, FilterValue>) => void
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
  const { children, notice, view, select } = props
  const isPhone = useIsPhone()
  const [isMoreOpen, setIsMoreOpen] = useState(false)
  const active = filters.filter(({ name }) => values[name] !== undefined)
  /** A choice without options can only be set by a link, and shows only as a chip. */
  const offered = filters.filter((filter) => filter.kind !== 'choice' || filter.options.length > 0)
  return (
    <div className={classes['toolbar']}>
      <div className={classes['row']}>
        <SearchBox label={searchLabel} value={search} onChange={onSearch} />
        {offered.length > 0 && <Filters filters={offered} values={values} active={active.length} onFilter={onFilter} />}
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
      <output className={classes['hint']}>{hint}</output>
      {active.length > 0 && <FilterChips active={active} values={values} onFilter={onFilter} />}
    </div>
  )
}

interface FilterChipsProps extends Required<Pick<ListToolbarProps, 'values' | 'onFilter'>> {
  active: readonly Filter[]
}

/** The active filters, each with a button that removes it. */
function FilterChips({ active, values, onFilter }: FilterChipsProps) {
  const clear = (cleared: readonly Filter[]) =>
    clearParameters(
      cleared.map(({ name }) => name),
      onFilter,
    )
  return (
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
  )
}

/** Removes parameters from the address. The pressed button is about to disappear, so the search box gets the focus. */
export function clearParameters(names: readonly string[], change: (cleared: Record<string, undefined>) => void): void {
  focusSearch()
  change(Object.fromEntries(names.map((name) => [name, undefined])))
}

function SelectButton({ isOpen, onToggle }: NonNullable<ListToolbarProps['select']>) {
  return (
    <Button variant={isOpen ? 'light' : 'default'} aria-pressed={isOpen} onClick={onToggle}>
      Select
    </Button>
  )
}

function filterText(filter: Filter, value: FilterValue): string {
  if (filter.kind === 'choice') return filter.options.find((option) => option.value === value)?.label ?? String(value)
  if (filter.kind === 'day' || filter.kind === 'minute') return inputText(String(value))
  return typeof value === 'number' ? exactly(value) : String(value)
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
    const next = firstCharacters(typed, SEARCH_MAX_LENGTH)
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

interface FiltersProps {
  filters: readonly Filter[]
  values: Readonly<Record<string, FilterValue>>
  active: number
  onFilter: (values: Record<string, FilterValue>) => void
}

/** What was typed into a filter and not applied. It stays while the pane is closed, until the filter changes elsewhere. */
interface Draft {
  typed: FilterValue
  /** The filter's value when it was typed. */
  of: FilterValue
}

function Filters({ filters, values, active, onFilter }: FiltersProps) {
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({})
  return (
    <Choices label="Filters" icon={<IconFilter size={18} aria-hidden />} count={active}>
      {filters.map((filter) => {
        const { name } = filter
        const value = values[name]
        const draft = drafts[name]
        return (
          <FilterField
            key={name}
            filter={filter}
            value={value}
            typed={draft && draft.of === value ? draft.typed : value}
            onType={(typed) => setDrafts((others) => ({ ...others, [name]: { typed, of: value } }))}
            onChange={(changed) => onFilter({ [name]: changed })}
          />
        )
      })}
    </Choices>
  )
}

interface FilterFieldProps {
  filter: Filter
  value: FilterValue
  typed: FilterValue
  onType: (typed: FilterValue) => void
  onChange: (value: FilterValue) => void
}

function FilterField({ filter, value, onChange, ...typing }: FilterFieldProps) {
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
    const type = kind === 'day' ? 'date' : 'datetime-local'
    return <DayFilter label={label} type={type} value={value} onChange={onChange} {...typing} />
  }
  return <NumberFilter label={label} value={value} onChange={onChange} {...typing} />
}

/** Commits a field on blur or Enter. Escape closes the pane, which blurs the field: then the text stays typed but is not applied. */
function useCommit(commit: () => void) {
  const isLeft = useRef(false)
  return {
    onFocus: () => {
      isLeft.current = false
    },
    onBlur: () => isLeft.current || commit(),
    onKeyDown: ({ key }: { key: string }) => {
      isLeft.current = key === 'Escape'
      if (key === 'Enter') commit()
    },
  }
}

interface DayFilterProps extends Omit<FilterFieldProps, 'filter'> {
  label: string
  type: 'date' | 'datetime-local'
}

/** Reports complete days while typing. A day before the year 1000 is probably an unfinished year, and is reported on blur. */
function DayFilter({ label, type, value = '', typed = '', onType, onChange }: DayFilterProps) {
  const report = (day: string) => {
    if (day !== value) onChange(day || undefined)
  }
  const committing = useCommit(() => report(String(typed)))
  const handleChange = (day: string) => {
    onType(day)
    if (day >= FIRST_REPORTED_DAY) report(day)
  }
  return (
    <TextInput type={type} label={label} value={typed} onChange={({ target }) => handleChange(target.value)} {...committing} />
  )
}

/** Reports its number on blur or Enter. Other text shows an error and is not reported. */
function NumberFilter({ label, value, typed, onType, onChange }: Omit<FilterFieldProps, 'filter'> & { label: string }) {
  const isNumber = typeof typed !== 'string'
  const committing = useCommit(() => {
    if (isNumber && typed !== value) onChange(typed)
  })
  return (
    <NumberInput label={label} value={typed} error={!isNumber && `${label} must be a number`} onChange={onType} {...committing} />
  )
}

interface ChoicesProps {
  label: string
  icon: ReactNode
  /** The number of choices in use. */
  count?: number
  children: ReactNode
}

/** A button that opens a pane of choices. */
function Choices({ label, icon, count = 0, children }: ChoicesProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Pane
      isOpen={isOpen}
      onChange={setIsOpen}
      title={label}
      button={{
        leftSection: icon,
        children: (
          <>
            <span className={classes['label']}>{label}</span>
            {count > 0 && <span className={classes['count']}>{count}</span>}
          </>
        ),
      }}
    >
      {children}
    </Pane>
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

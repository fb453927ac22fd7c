/** The field of one filter, by its kind. */
import { MAX_FILTER_DAYS } from '@arcade/contract/entity'
import { NativeSelect, TextInput } from '@mantine/core'
import { Choice } from '#src/ui/choice.tsx'
import { NumberInput } from '#src/ui/number-input.tsx'
import { formatted } from '#src/ui/numbers.ts'
import classes from './filter-fields.module.css'
import { type FilterValue, optionsIn, type SimpleFilter } from './filter-words.ts'
import { ItemField } from './item-field.tsx'

const FIRST_REPORTED_DAY = '1000-01-01'

interface FilterFieldProps {
  filter: SimpleFilter
  value: FilterValue
  typed: FilterValue
  /** Shown below the field of a number or a time. */
  problem: string | undefined
  onType: (typed: FilterValue) => void
  onChange: (value: FilterValue) => void
}

export function FilterField({ filter, value, onChange, ...typing }: FilterFieldProps) {
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
  if (kind === 'all') return <AllField filter={filter} value={value} onChange={onChange} />
  if (kind === 'item')
    return <ItemField label={label} value={value === undefined ? undefined : String(value)} onChange={onChange} />
  if (kind === 'day' || kind === 'minute') {
    const type = kind === 'day' ? 'date' : 'datetime-local'
    return <DayFilter label={label} type={type} value={value} onChange={onChange} {...typing} />
  }
  return <NumberFilter label={label} isDays={kind === 'days'} value={value} onChange={onChange} {...typing} />
}

interface AllFieldProps {
  filter: SimpleFilter & { kind: 'all' | 'choice' }
  value: FilterValue
  onChange: (value: FilterValue) => void
}

/** Options of which a row must have all that are chosen. */
function AllField({ filter: { label, options }, value, onChange }: AllFieldProps) {
  const chosen = optionsIn(value)
  const handleChange = (option: string, isChosen: boolean) => {
    const next = options.map((one) => one.value).filter((one) => (one === option ? isChosen : chosen.includes(one)))
    onChange(next.join() || undefined)
  }
  return (
    <fieldset className={classes['all']}>
      <legend>{label}</legend>
      {options.map((option) => (
        <Choice
          key={option.value}
          checked={chosen.includes(option.value)}
          onChange={({ target }) => handleChange(option.value, target.checked)}
        >
          {option.label}
        </Choice>
      ))}
    </fieldset>
  )
}

/** Commits a field on Enter and on blur, also when Escape closes the pane. */
function committedBy(commit: () => void) {
  return { onBlur: commit, onKeyDown: ({ key }: { key: string }) => key === 'Enter' && commit() }
}

interface DayFilterProps extends Omit<FilterFieldProps, 'filter'> {
  label: string
  type: 'date' | 'datetime-local'
}

/** Reports complete days while typing. A day before the year 1000 is probably an unfinished year, and is reported on blur. */
function DayFilter({ label, type, value = '', typed = '', problem, onType, onChange }: DayFilterProps) {
  const report = (day: string) => {
    if (day !== value) onChange(day || undefined)
  }
  const committing = committedBy(() => report(String(typed)))
  const handleChange = (day: string) => {
    onType(day)
    if (day >= FIRST_REPORTED_DAY) report(day)
  }
  return (
    <TextInput
      type={type}
      label={label}
      value={typed}
      error={problem}
      onChange={({ target }) => handleChange(target.value)}
      {...committing}
    />
  )
}

interface NumberFilterProps extends Omit<FilterFieldProps, 'filter'> {
  label: string
  /** The number is a number of days. */
  isDays: boolean
}

/** Reports its number on blur or Enter. Other text shows an error and is not reported. */
function NumberFilter({ label, isDays, value, typed, problem, onType, onChange }: NumberFilterProps) {
  const refusal = isDays ? daysProblem(typed) : typeof typed === 'string' && `${label} must be a number`
  const committing = committedBy(() => {
    if (!refusal && typed !== value) onChange(typed)
  })
  return <NumberInput label={label} value={typed} error={refusal || problem} onChange={onType} {...committing} />
}

function daysProblem(days: FilterValue): string | false {
  if (days === undefined) return false
  const isDays = typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= MAX_FILTER_DAYS
  return !isDays && `1 to ${formatted(MAX_FILTER_DAYS)} days`
}

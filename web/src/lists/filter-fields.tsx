/** The fields of a list's filters. What was typed into one and not applied stays while their pane is closed. */
import { useState } from 'react'
import { FilterField } from './filter-field.tsx'
import classes from './filter-fields.module.css'
import { FilterGroups } from './filter-groups.tsx'
import { type Filter, type FilterValue, type FilterValues, rangeProblem } from './filter-words.ts'

/** What was typed into a filter and not applied. */
interface Draft {
  typed: FilterValue
  /** The filter's value when it was typed. */
  of: FilterValue
}

interface FilterDrafts {
  drafts: Readonly<Record<string, Draft>>
  onDraft: (name: string, draft: Draft) => void
}

/** Holds what was typed. Call it outside of the pane, which forgets its content when it closes. */
export function useFilterDrafts(): FilterDrafts {
  const [drafts, setDrafts] = useState<FilterDrafts['drafts']>({})
  return { drafts, onDraft: (name, draft) => setDrafts((others) => ({ ...others, [name]: draft })) }
}

interface FilterFieldsProps extends FilterDrafts {
  filters: readonly Filter[]
  values: FilterValues
  onFilter: (values: Record<string, FilterValue>) => void
}

/** More fields than these stand in two columns. */
const MAX_IN_ONE_COLUMN = 8

export function FilterFields({ filters, values, onFilter, drafts, onDraft }: FilterFieldsProps) {
  return (
    <div className={classes['fields']} data-many={filters.length > MAX_IN_ONE_COLUMN || undefined}>
      {filters.map((filter) => {
        const { name } = filter
        const value = values[name]
        const draft = drafts[name]
        const handleChange = (changed: FilterValue) => onFilter({ [name]: changed })
        if (filter.kind === 'groups') return <FilterGroups key={name} filter={filter} value={value} onChange={handleChange} />
        return (
          <FilterField
            key={name}
            filter={filter}
            value={value}
            typed={draft && draft.of === value ? draft.typed : value}
            problem={rangeProblem(filter, values)}
            onType={(typed) => onDraft(name, { typed, of: value })}
            onChange={handleChange}
          />
        )
      })}
    </div>
  )
}

/** The filters of a list: the pane with their fields, and a chip for each active one. */
import { Button, CloseButton } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { focusSearch } from '#src/ui/table-rows.ts'
import { Choices } from './choices.tsx'
import { FilterFields, useFilterDrafts } from './filter-fields.tsx'
import classes from './filter-fields.module.css'
import { type Filter, type FilterValue, type FilterValues, filterWords, itemsIn } from './filter-words.ts'
import { useItemTitles } from './item-field.tsx'
import toolbar from './list-toolbar.module.css'

interface FiltersPaneProps {
  filters: readonly Filter[]
  values: FilterValues
  /** How many filters are active. */
  active: number
  /** How many rows match, in words: the pane may lie over where the page says it. */
  found?: string | undefined
  onFilter: (values: Record<string, FilterValue>) => void
}

export function FiltersPane({ filters, values, active, found, onFilter }: FiltersPaneProps) {
  const drafts = useFilterDrafts()
  return (
    <Choices label="Filters" icon={<IconFilter size={18} aria-hidden />} count={active} className={classes['pane']}>
      <FilterFields filters={filters} values={values} onFilter={onFilter} {...drafts} />
      {found !== undefined && <output className={classes['found']}>{found}</output>}
    </Choices>
  )
}

interface FilterChipsProps {
  active: readonly Filter[]
  values: FilterValues
  onFilter: (values: Record<string, undefined>) => void
}

/** The active filters, each with a button that removes it. */
export function FilterChips({ active, values, onFilter }: FilterChipsProps) {
  const titleOf = useItemTitles(itemsIn(active, values))
  const clear = (cleared: readonly Filter[]) =>
    clearParameters(
      cleared.map(({ name }) => name),
      onFilter,
    )
  return (
    <ul className={toolbar['chips']} aria-label="Active filters">
      {active.map((filter) => {
        const words = filterWords(filter, values[filter.name], titleOf)
        return (
          <li key={filter.name} className={toolbar['chip']}>
            <span className={toolbar['chipText']} title={words}>
              {words}
            </span>
            <CloseButton size="sm" aria-label={`Remove filter ${filter.label}`} onClick={() => clear([filter])} />
          </li>
        )
      })}
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

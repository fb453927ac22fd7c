/** The field of a filter that names an item, `kind:id`, and the titles of items that filters name. */
import { type HistoryKind, historyKindLabels, historyKinds } from '@arcade/contract/history/fields'
import { readItem, writeItem } from '@arcade/contract/filter-values'
import { isolated } from '@arcade/contract/text'
import { useQueries } from '@tanstack/react-query'
import { api, queryClient } from '#src/client/client.ts'
import { type SearchOption, SearchSelect } from '#src/ui/search-select.tsx'

interface ItemFieldProps {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Offers all items, newest first, also deleted ones: players took part in them. */
export function ItemField({ label, value, onChange }: ItemFieldProps) {
  const { data, isPending } = useQueries(
    {
      queries: historyKinds.map((kind) => api.history.titles.queryOptions({ input: { kind }, staleTime: FRESH_MS })),
      combine: (results) => ({
        data: results.flatMap(({ data: titles }, index) => optionsOf(historyKinds[index]!, titles?.items ?? [])),
        isPending: results.some((result) => result.isPending),
      }),
    },
    queryClient,
  )
  return (
    <SearchSelect
      label={label}
      value={value}
      options={isPending ? undefined : data}
      onChange={onChange}
      placeholder="Any item"
      emptyText="No item matches."
    />
  )
}

const FRESH_MS = 60_000 // titles of items change seldom, and several fields of one pane use them

interface Title {
  id: string
  title: string
  createdAt: string
  isDeleted: boolean
}

function optionsOf(kind: HistoryKind, items: readonly Title[]): SearchOption[] {
  return items.map(({ id, title, isDeleted }) => ({
    value: writeItem({ kind, id }),
    label: title,
    detail: isDeleted ? `${historyKindLabels[kind]}, deleted` : historyKindLabels[kind],
  }))
}

/** Returns a function from `kind:id`, as filters name items, to the item's title: a dash while it loads, and its id if there is no such item. */
export function useItemTitles(items: readonly string[]): (item: string) => string {
  const wanted = [...new Set(items)].flatMap((item) => readItem(item) ?? [])
  const titles = useQueries(
    {
      queries: wanted.map((input) => api.history.get.queryOptions({ input, staleTime: FRESH_MS, retry: false })),
      combine: (results) =>
        new Map(
          results.map(({ data, isPending }, index) => {
            const item = wanted[index]!
            return [writeItem(item), data ? isolated(data.title) : isPending ? '–' : item.id]
          }),
        ),
    },
    queryClient,
  )
  return (item) => titles.get(item) ?? item
}

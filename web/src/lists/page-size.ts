/** The page size of a list: that of the address, otherwise the one that the operator chose last, otherwise the list's own (§9). */
import type { List } from '@arcade/contract/entity'
import { useSyncExternalStore } from 'react'
import { keptPageSize, subscribeToVisit } from '#src/ui/visit.ts'
import type { ListAddress } from './list-address.ts'

export function usePageSize<L extends List>({ name, pageSizes }: L, { size }: ListAddress<L>): L['pageSizes'][number] {
  const kept = useSyncExternalStore(subscribeToVisit, () => keptPageSize(name))
  return size ?? pageSizes.find((one) => one === kept) ?? pageSizes[0]
}

/** What the address of each page holds besides its path, read before the page is loaded. What is not understood is left out. */
import { type ActivityRange, activityRanges, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/entities/activity'
import { type HistoryKind, historyKinds, participantList } from '@arcade/contract/entities/history'
import type { List } from '@arcade/contract/entities/entity'
import { type ListAddress, readListAddress } from '#src/lists/list-address.ts'

type Raw = Record<string, unknown>

/** An id, also one that the router has read as a number. */
function idIn(value: unknown): string | undefined {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
}

/** Reads the address of a list's page. */
export function addressReader<L extends List>(list: L): (raw: Raw) => ListAddress<L> {
  return (raw) => readListAddress(list, raw)
}

/** `?setup=…` of the link under which the first admin registers. */
export function setupAddress({ setup }: Raw): { setup?: string } {
  const key = idIn(setup)
  return key === undefined ? {} : { setup: key }
}

/** `?id=…` of an edit form. */
export function editAddress({ id }: Raw): { id?: string } {
  const item = idIn(id)
  return item === undefined ? {} : { id: item }
}

/** `?from=…` of an add form: what the new item begins as a copy of. */
export function addAddress({ from }: Raw): { from?: string } {
  const item = idIn(from)
  return item === undefined ? {} : { from: item }
}

/** The dashboard's range of time, if it is not the one it has anyway. */
export function dashboardAddress({ range }: Raw): { range?: ActivityRange } {
  const known = activityRanges.find((one) => one === range)
  return known === undefined || known === DEFAULT_ACTIVITY_RANGE ? {} : { range: known }
}

interface HistoryAddress extends ListAddress<typeof participantList> {
  /** Announcements, unless it says otherwise. */
  tab?: HistoryKind
  item?: string
}

/** History's tab, its chosen item, and where one is among that item's participants. */
export function historyAddress(raw: Raw): HistoryAddress {
  const tab = historyKinds.find((kind) => kind === raw['tab'])
  const item = idIn(raw['item'])
  return {
    ...(tab !== undefined && tab !== 'announcement' && { tab }),
    ...(item !== undefined && { item, ...readListAddress(participantList, raw) }),
  }
}

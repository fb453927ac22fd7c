/** What the address of each page holds besides its path, read before the page is loaded. What is not understood is left out. */
import { type ActivityRange, activityRanges, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'
import { type HistoryKind, historyKinds, participantList } from '@arcade/contract/history/fields'
import type { List } from '@arcade/contract/entity'
import { type ListAddress, readListAddress } from '#src/lists/list-address.ts'

type Raw = Record<string, unknown>

/** The address with each part of its path taken literally that cannot be decoded: the router would match nothing, not even the fallback (§2). */
export function decodableAddress(address: string): URL {
  const url = new URL(address)
  url.pathname = url.pathname.replaceAll(/[^/]+/g, decodablePart)
  return url
}

function decodablePart(part: string): string {
  try {
    return decodeURIComponent(part) && part // a call whose result nobody takes is dropped by the minifier
  } catch {
    return part.replaceAll('%', '%25')
  }
}

/** An id, also one that the router has read as a number. */
function idIn(value: unknown): string | undefined {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
}

/**
 * The address with nothing else in it. The router keeps every key that the reader of an address leaves out, so that `page=abc` would
 * reach the page, unless the reader says that it is undefined.
 */
function only<Address extends object>(address: Address, raw: Raw): Address {
  return { ...Object.fromEntries(Object.keys(raw).map((key) => [key, undefined])), ...address }
}

/** Reads the address of a list's page. */
export function addressReader<L extends List>(list: L): (raw: Raw) => ListAddress<L> {
  return (raw) => only(readListAddress(list, raw), raw)
}

/** `?setup=…` of the link under which the first admin registers. */
export function setupAddress(raw: Raw): { setup?: string } {
  const setup = idIn(raw['setup'])
  return only(setup === undefined ? {} : { setup }, raw)
}

/** `?id=…` of an edit form. */
export function editAddress(raw: Raw): { id?: string } {
  const id = idIn(raw['id'])
  return only(id === undefined ? {} : { id }, raw)
}

/** `?from=…` of an add form names the item that the new one is a copy of. */
export function addAddress(raw: Raw): { from?: string } {
  const from = idIn(raw['from'])
  return only(from === undefined ? {} : { from }, raw)
}

/** `?range=…` of the dashboard, unless it is the range that the dashboard has anyway. */
export function dashboardAddress(raw: Raw): { range?: ActivityRange } {
  const range = activityRanges.find((one) => one === raw['range'])
  return only(range === undefined || range === DEFAULT_ACTIVITY_RANGE ? {} : { range }, raw)
}

interface HistoryAddress extends ListAddress<typeof participantList> {
  /** Announcements, unless it says otherwise. */
  tab?: HistoryKind
  item?: string
}

/** The tab of History, its chosen item, and the place among that item's participants. */
export function historyAddress(raw: Raw): HistoryAddress {
  const tab = historyKinds.find((kind) => kind === raw['tab'])
  const item = idIn(raw['item'])
  return only(
    {
      ...(tab !== undefined && tab !== 'announcement' && { tab }),
      ...(item !== undefined && { item, ...readListAddress(participantList, raw) }),
    },
    raw,
  )
}

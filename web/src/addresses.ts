/** Reads the search parameters of each page's address, before the page is loaded. Parameters with unknown values are dropped. */
import { type ActivityRange, activityRanges, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'
import { type HistoryKind, historyKinds, participantList } from '@arcade/contract/history/fields'
import type { List } from '@arcade/contract/entity'
import { type ListAddress, readListAddress, textIn } from '#src/lists/list-address.ts'

type Raw = Record<string, unknown>

/**
 * Escapes path segments that cannot be decoded, such as `%zz`. The router would match no route for them, not even the fallback page (§2).
 */
export function decodableAddress(address: string): URL {
  const url = new URL(address)
  url.pathname = url.pathname.replaceAll(/[^/]+/g, decodablePart)
  return url
}

/** Reads the parameters of an address as texts: a search for `1e5` or `true` is neither a number nor a flag. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(Array.from(new URLSearchParams(search), ([name, value]) => [name, unquoted(value)]))
}

/** Earlier versions wrote a text that looks like a number as JSON: `q=%2242%22`. Links of that time still work. */
function unquoted(value: string): string {
  if (!/^".+"$/.test(value)) return value
  try {
    const text: unknown = JSON.parse(value)
    JSON.parse(String(text))
    return String(text)
  } catch {
    return value
  }
}

/** Writes the parameters of an address, without those that are undefined. */
export function stringifySearch(search: Record<string, unknown>): string {
  const texts = Object.entries(search as Record<string, string | number | boolean | undefined>).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const text = new URLSearchParams(texts).toString()
  return text === '' ? '' : `?${text}`
}

function decodablePart(part: string): string {
  try {
    return decodeURIComponent(part) && part // uses the result, because the minifier drops a call whose result is unused
  } catch {
    return part.replaceAll('%', '%25')
  }
}

/**
 * Sets all other parameters to undefined. The router passes on every parameter that `validateSearch` omits, so `page=abc` would reach the
 * page otherwise.
 */
function only<Address extends object>(address: Address, raw: Raw): Address {
  return { ...Object.fromEntries(Object.keys(raw).map((key) => [key, undefined])), ...address }
}

/** Returns a reader for the address of a list's page. */
export function addressReader<L extends List>(list: L): (raw: Raw) => ListAddress<L> {
  return (raw) => only(readListAddress(list, raw), raw)
}

/** `?setup=…`: the token of the link that registers the first admin. */
export function setupAddress(raw: Raw): { setup?: string } {
  const setup = textIn(raw['setup'])
  return only(setup === undefined ? {} : { setup }, raw)
}

/** `?link=…`: the token of the link that sets a password. */
export function linkAddress(raw: Raw): { link?: string } {
  const link = textIn(raw['link'])
  return only(link === undefined ? {} : { link }, raw)
}

/** `?id=…`: the record that an edit form shows. */
export function editAddress(raw: Raw): { id?: string } {
  const id = textIn(raw['id'])
  return only(id === undefined ? {} : { id }, raw)
}

/** `?from=…`: the item that an add form copies. */
export function addAddress(raw: Raw): { from?: string } {
  const from = textIn(raw['from'])
  return only(from === undefined ? {} : { from }, raw)
}

/** `?range=…` of the dashboard; left out for the default range. */
export function dashboardAddress(raw: Raw): { range?: ActivityRange } {
  const range = activityRanges.find((one) => one === raw['range'])
  return only(range === undefined || range === DEFAULT_ACTIVITY_RANGE ? {} : { range }, raw)
}

interface HistoryAddress extends ListAddress<typeof participantList> {
  /** Left out for announcements, the default tab. */
  tab?: HistoryKind
  item?: string
}

/** The tab of History, the chosen item, and the position in the list of its participants. */
export function historyAddress(raw: Raw): HistoryAddress {
  const tab = historyKinds.find((kind) => kind === raw['tab'])
  const item = textIn(raw['item'])
  return only(
    {
      ...(tab !== undefined && tab !== 'announcement' && { tab }),
      ...(item !== undefined && { item, ...readListAddress(participantList, raw) }),
    },
    raw,
  )
}

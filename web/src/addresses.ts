/** Reads the search parameters of each page's address, before the page is loaded. Parameters with unknown values are dropped. */
import { textIn } from '@arcade/contract/address-filters'
import { type RecipientOutcome, recipientOutcomeLabels } from '@arcade/contract/broadcasts/fields'
import { type CalendarKind, calendarKinds } from '@arcade/contract/calendar/fields'
import { type ActivityRange, activityRanges, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'
import { type HistoryKind, historyKinds, participantList } from '@arcade/contract/history/fields'
import { type List, MAX_PAGE } from '@arcade/contract/entity'
import { playerList } from '@arcade/contract/players/fields'
import type { ServiceAnswer } from '#src/client/sign-in-service.ts'
import { filtersOnly, type ListAddress, readListAddress } from '#src/lists/list-address.ts'

type Raw = Record<string, unknown>

/**
 * Escapes path segments that cannot be decoded, such as `%zz`. The router would match no route for them, not even the fallback page (§2).
 */
export function decodableAddress(address: string): URL {
  const url = new URL(address)
  url.pathname = url.pathname.replaceAll(/[^/]+/g, decodablePart)
  return url
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

/** `?link=…`: the token of a link that sets a password, accepts an invitation or confirms an e-mail address. */
export function linkAddress(raw: Raw): { link?: string } {
  const link = textIn(raw['link'])
  return only(link === undefined ? {} : { link }, raw)
}

/** What the sign-in service adds to the address of the page that it sends the browser back to. */
export function serviceAnswer(raw: Raw): ServiceAnswer {
  const [code, state, iss, error] = [raw['code'], raw['state'], raw['iss'], raw['error']].map(textIn)
  return only({ code, state, iss, error }, raw)
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

/** `?page=…` of a list that is paged by numbers and has no filters; left out for page 1. */
export function pageAddress(raw: Raw): { page?: number } {
  const page = Number(raw['page'])
  return only(Number.isInteger(page) && page > 1 && page <= MAX_PAGE ? { page } : {}, raw)
}

/** The announcement of a new broadcast, and the filters of players whom it goes to, as their list has them. */
export function newBroadcastAddress(raw: Raw): { announcement?: string } & ListAddress<typeof playerList> {
  const { announcement: given, ...filters } = raw
  const announcement = textIn(given)
  const read = readListAddress(playerList, filters)
  return only(
    {
      ...(announcement !== undefined && { announcement }),
      ...filtersOnly(playerList, read),
      ...(read.unread !== undefined && { unread: read.unread }),
    },
    raw,
  )
}

/** `?outcome=…`: which recipients the page of a broadcast lists; left out for those to decide about. */
export function broadcastAddress(raw: Raw): { outcome?: RecipientOutcome } {
  const outcome = textIn(raw['outcome'])
  return only(outcome !== undefined && isOutcome(outcome) ? { outcome } : {}, raw)
}

function isOutcome(text: string): text is RecipientOutcome {
  return Object.hasOwn(recipientOutcomeLabels, text)
}

/** `?range=…` of the dashboard; left out for the default range. */
export function dashboardAddress(raw: Raw): { range?: ActivityRange } {
  const range = activityRanges.find((one) => one === raw['range'])
  return only(range === undefined || range === DEFAULT_ACTIVITY_RANGE ? {} : { range }, raw)
}

interface CalendarAddress {
  /** Left out for the month, the default view. */
  view?: 'week'
  /** A day of the week or month, such as `2026-11-27`; left out for today. */
  day?: string
  /** Shows only items of this kind, or broadcasts. */
  kind?: CalendarKind
}

/** The span of the calendar, and what it shows. */
export function calendarAddress(raw: Raw): CalendarAddress {
  const day = textIn(raw['day'])
  const isDay = day !== undefined && /^20\d\d-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))
  const kind = calendarKinds.find((one) => one === raw['kind'])
  return only({ ...(raw['view'] === 'week' && { view: 'week' as const }), ...(isDay && { day }), ...(kind && { kind }) }, raw)
}

interface HistoryAddress extends ListAddress<typeof participantList> {
  /** Left out for announcements, the default tab. */
  tab?: HistoryKind
  item?: string
}

/** The tab of History, the chosen item, and the position in the list of its participants. */
export function historyAddress(raw: Raw): HistoryAddress {
  const { tab: givenTab, item: givenItem, ...list } = raw
  const tab = historyKinds.find((kind) => kind === givenTab)
  const item = textIn(givenItem)
  return only(
    {
      ...(tab !== undefined && tab !== 'announcement' && { tab }),
      ...(item !== undefined && { item, ...readListAddress(participantList, list) }),
    },
    raw,
  )
}

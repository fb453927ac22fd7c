/**
 * Calls that the pages of other sites may make: those for players' clients, whose Mini App has an address of its own. They admit no cookie,
 * so another site can do nothing there in the name of somebody who has a page of the console open (Fetch standard, 3.2).
 */
import type { CallMeta } from '@arcade/contract/call'

/** Whether a call heeds what a page of another site sends, and lets that page read the answer. */
export function answersEverySite({ access }: CallMeta): boolean {
  return access.includes('player') && !access.some((one) => one === 'guest' || one === 'user' || one === 'admin')
}

export const crossSiteHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, x-request-id',
  'cross-origin-resource-policy': 'cross-origin',
}

/** What a browser asks before it sends such a request. */
export const preflightHeaders = {
  ...crossSiteHeaders,
  'access-control-allow-methods': 'GET, POST, PUT',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key',
  'access-control-max-age': '86400',
}

/**
 * CORS for the calls of players' clients, whose Mini App has an origin of its own. These calls ignore cookies, so another site cannot act in
 * the name of an operator who has the console open (Fetch standard, 3.2).
 */
import type { CallMeta } from '@arcade/contract/call'

/** Whether a call accepts requests from pages of other sites and lets them read the answer. */
export function answersEverySite({ access }: CallMeta): boolean {
  return access.includes('player') && !access.some((one) => one === 'guest' || one === 'user' || one === 'admin')
}

export const crossSiteHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, x-request-id',
  'cross-origin-resource-policy': 'cross-origin',
}

/** Answers the preflight request of a browser. */
export const preflightHeaders = {
  ...crossSiteHeaders,
  'access-control-allow-methods': 'GET, POST, PUT',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key',
  'access-control-max-age': '86400',
}

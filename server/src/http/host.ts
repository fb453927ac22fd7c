/**
 * Which hosts a server without PUBLIC_URL answers for: those whose name no other site can own. Otherwise the page of a site whose name leads
 * to this server (DNS rebinding) would count as one of the console's own pages, also on loopback.
 */
import { isIP } from 'node:net'

/**
 * @param host the host that the server listens on
 * @returns whether a Host header names `localhost`, a name below it, `host`, or an IP address, each with any port and perhaps a dot at the
 *   end, which marks a complete name. Only programs send none.
 */
export function hostCheck(host: string): (header: string | undefined) => boolean {
  /** The last host that was accepted, because most requests have the same. */
  let last: string | undefined
  return (header) => {
    if (header === undefined || header === last) return true
    const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(header.toLowerCase()) ?? []
    const isAccepted =
      plain === undefined
        ? isIP(bracketed ?? '') === 6
        : plain === 'localhost' || plain.endsWith('.localhost') || plain === host.toLowerCase() || isIP(plain) === 4
    if (isAccepted) last = header
    return isAccepted
  }
}

/** Refuses changes that do not come from the console's own pages (security.md, Browser), by Sec-Fetch-Site or else Origin. */
import { Failure } from '#src/calls.ts'

/**
 * Browsers send Origin with every request that is not a GET (Fetch standard, 3.2), and Sec-Fetch-Site with every request to https or to a
 * loopback address. A request with neither comes from a program, or is a GET over plain http, which may come from a page on another port or
 * a sibling host. A GET that changes something must therefore change nothing more when it is repeated (security.md, Deviations).
 * @param ownOrigin PUBLIC_URL's origin, or undefined for the origin that the request was sent to
 * @throws Failure CROSS_ORIGIN
 */
export function refuseForeignOrigin(request: Request, ownOrigin: string | undefined): void {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) {
    if (site !== 'same-origin' && site !== 'none') throw new Failure('CROSS_ORIGIN')
    return
  }
  const origin = request.headers.get('origin')
  if (origin === null) return
  const isOwn =
    ownOrigin === undefined ? URL.canParse(origin) && new URL(origin).host === request.headers.get('host') : origin === ownOrigin
  if (!isOwn) throw new Failure('CROSS_ORIGIN')
}

/** Returns the origin that a browser names in the request. On a plain-http host Chromium sends no Sec-Fetch-Site, only a Referer. */
export function requestOrigin({ headers }: Request): string | undefined {
  const referer = headers.get('referer')
  const site = referer !== null && URL.canParse(referer) ? new URL(referer).origin : undefined
  return (headers.get('origin') ?? site ?? headers.get('sec-fetch-site') ?? undefined)?.slice(0, 200)
}

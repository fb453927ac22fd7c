/**
 * The HTTP layer: turns a Request into a Response. A path of the contract is answered by its call (call-pipeline.ts). Other paths are those
 * of load balancers' probes, the metrics and the API's documentation. Any further path is the web app's, or 404.
 */
import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type { ErrorCode } from '@arcade/contract/errors'
import { Failure } from '#src/calls.ts'
import { clientAddressReader } from './address.ts'
import { type Answer, createSend, jsonAnswer, type Send } from './answer.ts'
import { assetAnswer } from './asset.ts'
import { CallPipeline, type CallServices, type Env } from './call-pipeline.ts'
import { answersEverySite, preflightHeaders } from './cross-site.ts'
import { failureAnswer, logFailure, toFailure } from './failures.ts'
import { apiDocuments } from './openapi.ts'
import { hostCheck } from './host.ts'
import type { Readiness } from './readiness.ts'
import { type BoundRoute, pathPattern } from './routes.ts'
import type { PageSession, WebApp } from './static.ts'

export interface HttpServices extends CallServices {
  routes: BoundRoute[]
  /** Addresses and networks of the proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[]
  /** The host that the server listens on. */
  host: string
  /** The built web app; absent in tests of the calls alone. */
  webApp: WebApp | undefined
  readiness: Readiness
}

/** What each `add…` function gets. */
interface Layer {
  http: Hono<Env>
  services: HttpServices
  calls: CallPipeline
  clientAddress: (c: Context<Env>) => string
  send: Send
}

export function createHttp(services: HttpServices): Hono<Env> {
  const isHttps = services.publicOrigin?.startsWith('https:') ?? false
  const readAddress = clientAddressReader(services.trustedProxies)
  const clientAddress = (c: Context<Env>): string =>
    readAddress(c.env?.incoming?.socket.remoteAddress, c.req.raw.headers.get('x-forwarded-for'))
  const send = createSend({ isHttps, isStopping: () => services.readiness.isStopping() })
  const calls = new CallPipeline({ services, isHttps, clientAddress, send })
  const http = new Hono<Env>()
  const layer: Layer = { http, services, calls, clientAddress, send }
  addCalls(layer)
  addProbes(layer)
  addMetrics(layer)
  addApiDocuments(layer)
  addOtherPaths(layer)
  addErrorHandler(layer)
  refuseHosts(layer)
  return http
}

/** Adds the calls. A browser's preflight request is answered if players' clients may make the call. */
function addCalls({ http, services: { routes }, calls, send }: Layer): void {
  // Hono uses the first path that matches, so `/api/telegram-users/count` must come before `/api/telegram-users/{userId}`. If the path does
  // not have the method, the next one applies: `GET /api/users/remove` reads the user whose id is `remove`.
  const literalFirst = routes.toSorted((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  for (const [path, byMethod] of Map.groupBy(literalFirst, (route) => route.path)) {
    http.all(honoPath(path), (c, next) => {
      const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
      const route = byMethod.find((candidate) => candidate.method === method)
      if (route) return calls.answer(c, route)
      const requestedMethod = method === 'OPTIONS' && c.req.raw.headers.get('access-control-request-method')
      const allowsCrossSite = byMethod.some(
        (candidate) => candidate.method === requestedMethod && answersEverySite(candidate.meta),
      )
      return allowsCrossSite ? send({ status: 204, headers: preflightHeaders, body: null }) : next()
    })
  }
}

const probes = ['/healthz', '/readyz'] as const

function addProbes({ http, services: { readiness }, send }: Layer): void {
  const [health, ready] = probes
  http.get(health, () => send(jsonAnswer({ status: 'ok' })))
  http.get(ready, async () => {
    const { isReady, replica } = await readiness.ask()
    return send(jsonAnswer({ status: isReady ? 'ready' : 'not ready', replica }, isReady ? 200 : 503))
  })
}

/** Adds the path of the metrics, which exists only if there is a token for it. */
function addMetrics({ http, services: { metrics }, calls, send }: Layer): void {
  http.get('/metrics', async (c, next) => {
    if (!metrics.isServed) return next()
    if (!metrics.isAllowed(c.req.raw)) {
      await calls.countWrongToken(c)
      return send(refusal('SIGNED_OUT'))
    }
    const { contentType, body } = await metrics.read()
    return send({ status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body })
  })
}

function addApiDocuments({ http, services: { publicOrigin }, calls, send }: Layer): void {
  const documents = apiDocuments(publicOrigin)
  for (const [path, name] of [
    ['/api/openapi.json', 'openApi'],
    ['/api/docs', 'docs'],
  ] as const)
    http.get(path, (c) => calls.answerInTurn(c, async () => send(assetAnswer(c.req.raw, (await documents())[name]))))
}

/** Answers paths that no route has: 405 for a path of another method, a file or page of the web app, or 404. */
function addOtherPaths({ http, services: { routes, webApp }, calls, send }: Layer): void {
  const patterns = routes.map(({ path, method }) => ({ method, pattern: pathPattern(path) }))
  const sessionRoute = routes.find(({ name }) => name === 'auth.session')

  /**
   * Returns the answer of GET /api/session to embed in the page. Returns null if the call fails, or if the browser may have withheld the
   * cookie: then the page makes the call itself.
   */
  const sessionFor = async (c: Context<Env>): Promise<PageSession | null> => {
    const response = sessionRoute && (await calls.answer(c, sessionRoute))
    if (!response?.ok) return null
    const session = (await response.json()) as PageSession
    return session.user === null && mayLackStrictCookies(c.req.raw) ? null : session
  }

  http.notFound(async (c) => {
    const { pathname } = new URL(c.req.url)
    const methods = patterns.flatMap(({ method, pattern }) => (pattern.test(pathname) ? method : []))
    if (methods.length > 0) {
      const answer = refusal('METHOD_NOT_ALLOWED')
      return send({ ...answer, headers: { ...answer.headers, allow: methods.join(', ') } })
    }
    const isOfWebApp = ['GET', 'HEAD'].includes(c.req.method) && !/^\/(api|bot)(\/|$)/.test(pathname)
    if (!webApp || !isOfWebApp) return send(refusal('NOT_FOUND'))
    const file = webApp.file(c.req.raw, pathname)
    if (file) return calls.answerInTurn(c, () => send(file))
    return send(pathname.startsWith('/assets/') ? refusal('NOT_FOUND') : webApp.page(await sessionFor(c), pathname))
  })
}

/**
 * Whether the browser may have withheld the session's cookie: it sends cookies with `SameSite=Strict` only if the navigation began on a page
 * of this site or in the browser itself (RFC 6265bis, 5.2). The page's own requests have them.
 */
function mayLackStrictCookies({ headers }: Request): boolean {
  return !['same-origin', 'same-site', 'none'].includes(headers.get('sec-fetch-site') ?? '')
}

function addErrorHandler({ http, services: { log }, clientAddress, send }: Layer): void {
  http.onError((error, c) => {
    const requestId = randomUUID()
    const failure = toFailure(error)
    logFailure(log, failure, { requestId, method: c.req.method, route: 'http', address: clientAddress(c) })
    return send(failureAnswer(failure, requestId))
  })
}

/**
 * Refuses requests with two `Host` headers: Node uses the first one, and a proxy perhaps the last (RFC 9112, 3.2). Without PUBLIC_URL also
 * those for a host that may belong to another site, except for probes.
 */
function refuseHosts({ http, services: { publicOrigin, host }, send }: Layer): void {
  const { fetch } = http
  const isAnsweredFor = publicOrigin === undefined ? hostCheck(host) : () => true
  http.fetch = (request, env, context) => {
    if (hasTwoHosts(env)) return send(refusal('INVALID_INPUT'))
    if (isAnsweredFor(hostOf(request, env)) || probes.some((path) => path === new URL(request.url).pathname))
      return fetch(request, env, context)
    return send(refusal('UNKNOWN_HOST'))
  }
}

function hostOf(request: Request, env: Env['Bindings'] | undefined): string | undefined {
  return env?.incoming?.headers?.host ?? request.headers.get('host') ?? undefined
}

function hasTwoHosts(env: Env['Bindings'] | undefined): boolean {
  const names = env?.incoming?.rawHeaders?.filter((text, index) => index % 2 === 0 && text.length === 4 && /^host$/i.test(text))
  return names !== undefined && names.length > 1
}

/** Returns the answer to a request that is refused before it reaches a call. */
function refusal(code: ErrorCode): Answer {
  return failureAnswer(new Failure(code), randomUUID())
}

/** Converts a path such as `/removeUser/{id}` to Hono's syntax. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

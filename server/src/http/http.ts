/**
 * The HTTP layer: turns a Request into a Response. For each call of the contract it checks, in this order: origin, caller, access, free disk
 * space, body and input. Then it runs the handler and writes the answer. A path of no call is the web app's, or 404.
 */
import { randomUUID } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import type { CallMeta } from '@arcade/contract/call'
import type { ErrorCode } from '@arcade/contract/errors'
import type { BotTokens } from '#src/identity/bot-tokens.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { allowReplica } from '#src/db/reads.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import { deviceName } from '#src/identity/device-name.ts'
import { DEVICE_MAX_SECONDS, type Devices } from '#src/identity/devices.ts'
import type { InitDataReader } from '#src/identity/init-data.ts'
import { SESSION_MAX_SECONDS, type Sessions } from '#src/identity/sessions.ts'
import { addressReader } from './address.ts'
import { breakableBody } from './breakable-body.ts'
import { identify, privateCookie, refuseUnless } from './caller.ts'
import { answersEverySite, crossSiteHeaders, preflightHeaders } from './cross-site.ts'
import { asKindOfCall } from '#src/postgres/pool-shares.ts'
import { failureAnswer, logFailure, toFailure } from './failures.ts'
import { type Answer, hasVersion, jsonHeaders, securityHeaders, writeJson } from './answer.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { readInput } from './input.ts'
import { closeAfterRest } from './late-close.ts'
import { openApiDocument, renderDocs } from './openapi.ts'
import { requestOrigin, refuseForeignOrigin } from './origin.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import { createRefusals } from './refusals.ts'
import { type BoundRoute, pathPattern } from './routes.ts'
import type { PageSession, WebApp } from './static.ts'

export interface HttpServices {
  routes: BoundRoute[]
  database: Database
  sessions: Sessions
  botTokens: BotTokens
  readInitData: InitDataReader
  attempts: Attempts
  devices: Devices
  log: Logger
  /** PUBLIC_URL's origin, if it is set. */
  publicOrigin: string | undefined
  /** Addresses and networks of the proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[]
  metrics: Metrics
  /** The built web app; absent in tests of the calls alone. */
  webApp: WebApp | undefined
  /** Whether attempts and refusals are limited. */
  rateLimit: boolean
  readiness: Readiness
}

type Env = { Bindings: Partial<HttpBindings> }

export function createHttp(services: HttpServices): Hono<Env> {
  const { routes, database, readiness, log } = services
  const isHttps = services.publicOrigin?.startsWith('https:') ?? false
  const sessionCookie = privateCookie('session', { isHttps, maxAgeSeconds: SESSION_MAX_SECONDS })
  const deviceCookie = privateCookie('device', { isHttps, maxAgeSeconds: DEVICE_MAX_SECONDS })
  const positionCookie = privateCookie('position', { isHttps, maxAgeSeconds: POSITION_SECONDS })
  const readAddress = addressReader(services.trustedProxies)
  const clientAddress = (c: Context<Env>): string =>
    readAddress(c.env?.incoming?.socket.remoteAddress, c.req.raw.headers.get('x-forwarded-for'))
  const refusals = createRefusals(services.rateLimit)
  const http = new Hono<Env>()

  const base = securityHeaders(isHttps)
  const send = ({ status, headers, body }: Answer, cookies: readonly string[] = []): Response => {
    // If the connection stayed open, the next request could arrive at the moment at which the server closes it.
    const ending = readiness.isStopping() ? { connection: 'close' } : {}
    const response = new Response(body, { status, headers: { ...base, ...headers, ...ending } })
    for (const cookie of cookies) response.headers.append('set-cookie', cookie)
    return response
  }
  const refuse = (code: ErrorCode): Response => send(failureAnswer(new Failure(code), randomUUID()))
  const json = (value: unknown, status = 200): Response => send({ status, headers: jsonHeaders, body: JSON.stringify(value) })

  // Hono uses the first path that matches, so `/api/telegram-users/count` must come before `/api/telegram-users/{userId}`. If the path does
  // not have the method, the next one applies: `GET /api/users/remove` reads the user whose id is `remove`.
  const literalFirst = routes.toSorted((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  for (const [path, byMethod] of Map.groupBy(literalFirst, (route) => route.path)) {
    http.all(honoPath(path), (c, next) => {
      const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
      const route = byMethod.find((candidate) => candidate.method === method)
      if (route) return answer(c, route)
      const asked = method === 'OPTIONS' && c.req.raw.headers.get('access-control-request-method')
      const isOpen = byMethod.some((candidate) => candidate.method === asked && answersEverySite(candidate.meta))
      return isOpen ? send({ status: 204, headers: preflightHeaders, body: null }) : next()
    })
  }
  const patterns = routes.map(({ path, method }) => ({ method, pattern: pathPattern(path) }))
  http.get('/healthz', () => json({ status: 'ok' }))
  http.get('/readyz', async () => {
    const { isReady, replica } = await readiness.ask()
    return json({ status: isReady ? 'ready' : 'not ready', replica }, isReady ? 200 : 503)
  })
  // Without a token this path does not exist.
  http.get('/metrics', async (c, next) => {
    const { metrics } = services
    if (!metrics.isServed) return next()
    if (!metrics.isAllowed(c.req.raw)) {
      await services.attempts.count(limits.wrongTokenByAddress, clientAddress(c))
      return refuse('SIGNED_OUT')
    }
    const { contentType, body } = await metrics.read()
    return send({ status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body })
  })
  http.get('/api/openapi.json', async () => json(await openApiDocument(services.publicOrigin)))
  http.get('/api/docs', async () => {
    const body = renderDocs(await openApiDocument(services.publicOrigin))
    return send({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body })
  })

  http.notFound(async (c) => {
    const { pathname } = new URL(c.req.url)
    const methods = patterns.flatMap(({ method, pattern }) => (pattern.test(pathname) ? method : []))
    if (methods.length > 0) {
      const { status, headers, body } = failureAnswer(new Failure('METHOD_NOT_ALLOWED'), randomUUID())
      return send({ status, headers: { ...headers, allow: methods.join(', ') }, body })
    }
    const isOfWebApp = ['GET', 'HEAD'].includes(c.req.method) && !/^\/(api|bot)(\/|$)/.test(pathname)
    if (!services.webApp || !isOfWebApp) return refuse('NOT_FOUND')
    const file = services.webApp.file(c.req.raw, pathname)
    if (file) return send(file)
    return pathname.startsWith('/assets/') ? refuse('NOT_FOUND') : send(services.webApp.page(await sessionFor(c), pathname))
  })
  http.onError((error, c) => {
    const requestId = randomUUID()
    const failure = toFailure(error)
    logFailure(log, failure, { requestId, method: c.req.method, route: 'http', address: clientAddress(c) })
    return send(failureAnswer(failure, requestId))
  })
  const { fetch } = http
  http.fetch = (request, env, context) => (hasTwoHosts(env) ? refuse('INVALID_INPUT') : fetch(request, env, context))
  return http

  /** Returns the answer of GET /api/session to embed in the page, or null if that call fails: then the page calls it. */
  async function sessionFor(c: Context<Env>): Promise<PageSession | null> {
    const route = routes.find(({ name }) => name === 'auth.session')
    const response = route && (await answer(c, route))
    return response?.ok ? ((await response.json()) as PageSession) : null
  }

  function isRefusedForSpace({ onFullDisk }: CallMeta): boolean {
    if (onFullDisk === 'allowed') return false
    return onFullDisk === 'small' ? database.freeSpaceNearlyGone() : database.freeSpaceLow()
  }

  async function answer(c: Context<Env>, route: BoundRoute): Promise<Response> {
    const started = performance.now()
    const response = await answerCall(c, route)
    const seconds = (performance.now() - started) / 1000
    services.metrics.observe({ call: route.name, method: c.req.method, status: response.status, seconds })
    return response
  }

  async function answerCall(c: Context<Env>, route: BoundRoute): Promise<Response> {
    const request = c.req.raw
    const requestId = randomUUID()
    const { meta } = route
    const changesState = meta.changesState || route.method !== 'GET'
    const address = clientAddress(c)
    const isOpen = answersEverySite(meta)
    const headers: Record<string, string> = { 'x-request-id': requestId, ...(isOpen && crossSiteHeaders) }
    const cookies: string[] = []
    /** Remembers the database's position, so that a client which changed something, or met a conflict, does not read older data from a replica. */
    const rememberPosition = async (): Promise<void> => {
      if (database.replica === undefined || !changesState || meta.mayBeSecondOld) return
      cookies.push(positionCookie.write(await database.replica.position().catch(() => BEYOND_ALL)))
    }
    try {
      if (route.isDownload && request.method === 'HEAD') throw new Failure('METHOD_NOT_ALLOWED')
      if ((changesState || meta.isForOwnPages) && !isOpen) refuseForeignOrigin(request, services.publicOrigin)
      const sessionToken = sessionCookie.read(request)
      const caller = await identify(request, { sessionToken, address }, services)
      refuseUnless(meta.access, caller)
      if (changesState && isRefusedForSpace(meta)) throw new Failure('DISK_FULL')
      const { bodyLimitBytes, rowsField } = meta
      const { inputSchema: schema, isDownload, isUpload } = route
      const device = deviceCookie.read(request)
      // A person who signed in on this device before is not locked out by failed attempts of others at the same address.
      const isLimited = changesState && caller.kind === 'guest' && !services.devices.isKnown(device)
      if (isLimited) refusals.check(address)
      const input = await readInput({
        request,
        params: readParams(c),
        bodyLimitBytes,
        rowsField,
        schema,
        isDownload,
        isUpload,
      }).catch((error: unknown) => {
        if (isLimited) refusals.count(address)
        throw error
      })
      const context: CallContext = {
        caller,
        requestId,
        address,
        origin: requestOrigin(request),
        sessionToken,
        setSessionToken: (token) => void cookies.push(sessionCookie.write(token)),
        deviceCookie: device,
        setDeviceCookie: (value) => void cookies.push(deviceCookie.write(value)),
        get device() {
          return deviceName(request.headers.get('user-agent') ?? '')
        },
        hasVersion: (etag) => hasVersion(request, etag),
        idempotencyKey: meta.heedsIdempotencyKey ? readIdempotencyKey(request, route, { caller, input }) : undefined,
        get signal() {
          return request.signal
        },
      }
      const handle = (): Promise<unknown> => route.handler(input, context)
      const isForReplica = database.replica !== undefined && meta.mayBeSecondOld && caller.kind === 'user'
      const run = isForReplica ? () => allowReplica(positionCookie.read(request), handle) : handle
      const output = await asKindOfCall(route.name, run)
      await rememberPosition()
      if (!route.isDownload)
        return send({ status: 200, headers: { ...jsonHeaders, ...headers }, body: writeJson(output) }, cookies)
      const { headers: own, body } = output as { headers: Record<string, string>; body: ReadableStream | null }
      const breakable = body && breakableBody(body, c.env?.outgoing)
      return send({ status: body === null ? 304 : 200, headers: { ...own, ...headers }, body: breakable })
    } catch (error) {
      await rememberPosition()
      const failure = toFailure(error, meta.unexpected)
      const incoming = c.env?.incoming
      if (failure.code === 'TOO_LARGE' && incoming instanceof IncomingMessage) closeAfterRest(incoming)
      logFailure(log, failure, { requestId, method: request.method, route: route.name, address })
      const { status, headers: failed, body } = failureAnswer(failure, requestId, meta.failure)
      return send({ status, headers: { ...failed, ...headers }, body }, cookies)
    }
  }
}

/** Seconds for which a client's position is kept: longer than a replica may lag behind. */
const POSITION_SECONDS = 10
/** A position that no replica has reached, used while the position of the primary is unknown. */
const BEYOND_ALL = 'FFFFFFFF/FFFFFFFF'

/** Whether a request has two `Host` headers: Node uses the first one, and a proxy perhaps the last (RFC 9112, 3.2). */
function hasTwoHosts(env: Env['Bindings'] | undefined): boolean {
  const names = env?.incoming?.rawHeaders?.filter((text, index) => index % 2 === 0 && text.length === 4 && /^host$/i.test(text))
  return names !== undefined && names.length > 1
}

/** Converts a path such as `/removeUser/{id}` to Hono's syntax. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** Returns the decoded parameters of the path. @throws Failure INVALID_INPUT for a malformed escape */
function readParams(c: Context<Env>): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  if (Object.keys(params).length > 0 && c.req.path.includes('%')) {
    try {
      decodeURIComponent(c.req.path)
    } catch {
      throw new Failure('INVALID_INPUT')
    }
  }
  return params
}

/**
 * The HTTP layer: turns a Request into a Response. For every call of the contract, in this order: origin, who calls,
 * access, room on the disk, body and input, handler, answer. What matches no call is the web app or a 404.
 */
import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import type { ErrorCode } from '@arcade/contract/errors'
import type { BotTokens } from '#src/identity/bot-tokens.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import { identify, refuseUnless, sessionCookie } from './caller.ts'
import { asKindOfCall } from '#src/postgres/pool-shares.ts'
import { failureAnswer, logFailure, toFailure } from './failures.ts'
import { type Answer, jsonHeaders, securityHeaders } from './answer.ts'
import { readInput } from './input.ts'
import { openApiDocument, renderDocs } from './openapi.ts'
import { refuseForeignOrigin } from './origin.ts'
import { createRefusals } from './refusals.ts'
import type { BoundRoute } from './routes.ts'
import type { WebApp } from './static.ts'

export interface HttpServices {
  routes: BoundRoute[]
  database: Database
  sessions: Sessions
  botTokens: BotTokens
  log: Logger
  /** PUBLIC_URL's origin, if it is set. */
  publicOrigin: string | undefined
  /** The built web app; absent in tests of the calls alone. */
  webApp: WebApp | undefined
  /** Whether attempts and refusals are limited. */
  rateLimit: boolean
  /** True once the server has begun to stop. */
  isStopping: () => boolean
}

type Env = { Bindings: Partial<HttpBindings> }

export function createHttp(services: HttpServices): Hono<Env> {
  const { routes, database, log } = services
  const isHttps = services.publicOrigin?.startsWith('https:') ?? false
  const cookie = sessionCookie(isHttps)
  const refusals = createRefusals(services.rateLimit)
  const http = new Hono<Env>()

  const base = securityHeaders(isHttps)
  const send = ({ status, headers, body }: Answer): Response => new Response(body, { status, headers: { ...base, ...headers } })
  const refuse = (code: ErrorCode): Response => send(failureAnswer(new Failure(code), randomUUID()))
  const json = (value: unknown, status = 200): Response => send({ status, headers: jsonHeaders, body: JSON.stringify(value) })

  // Hono takes the first path that matches, so `/api/users/remove` has to come before `/api/users/{id}`.
  const literalFirst = routes.toSorted((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  for (const [path, byMethod] of Map.groupBy(literalFirst, (route) => route.path)) {
    const allow = byMethod.map((route) => route.method).join(', ')
    http.all(honoPath(path), (c) => {
      const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
      const route = byMethod.find((candidate) => candidate.method === method)
      if (route) return answer(c, route)
      const { status, headers, body } = failureAnswer(new Failure('METHOD_NOT_ALLOWED'), randomUUID())
      return send({ status, headers: { ...headers, allow }, body })
    })
  }
  http.get('/healthz', () => json({ status: 'ok' }))
  http.get('/readyz', async () => {
    const isReady = !services.isStopping() && (await database.isReady())
    return json({ status: isReady ? 'ready' : 'not ready' }, isReady ? 200 : 503)
  })
  http.get('/api/openapi.json', async () => json(await openApiDocument(services.publicOrigin)))
  http.get('/api/docs', async () => {
    const body = renderDocs(await openApiDocument(services.publicOrigin))
    return send({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body })
  })

  http.notFound(async (c) => {
    const { pathname } = new URL(c.req.url)
    const isOfWebApp = ['GET', 'HEAD'].includes(c.req.method) && pathname !== '/api' && !pathname.startsWith('/api/')
    if (!services.webApp || !isOfWebApp) return refuse('NOT_FOUND')
    const file = services.webApp.file(c.req.raw, pathname)
    if (file) return send(file)
    return pathname.startsWith('/assets/') ? refuse('NOT_FOUND') : send(services.webApp.page(await sessionFor(c)))
  })
  http.onError((error, c) => {
    const requestId = randomUUID()
    const failure = toFailure(error)
    logFailure(log, failure, { requestId, method: c.req.method, route: 'http', address: addressOf(c) })
    return send(failureAnswer(failure, requestId))
  })
  return http

  /** What GET /api/session answers, for the page to start with. Null if that fails: then the page asks by itself. */
  async function sessionFor(c: Context<Env>): Promise<{ user: unknown } | null> {
    const route = routes.find(({ name }) => name === 'auth.session')
    const response = route && (await answer(c, route))
    return response?.ok ? ((await response.json()) as { user: unknown }) : null
  }

  async function answer(c: Context<Env>, route: BoundRoute): Promise<Response> {
    const request = c.req.raw
    const requestId = randomUUID()
    const { meta } = route
    const changesState = meta.changesState || route.method !== 'GET'
    const headers: Record<string, string> = { 'x-request-id': requestId }
    try {
      if (route.isDownload && request.method === 'HEAD') throw new Failure('METHOD_NOT_ALLOWED')
      if (changesState) refuseForeignOrigin(request, services.publicOrigin)
      const sessionToken = cookie.read(request)
      const caller = await identify(request, sessionToken, services)
      refuseUnless(meta.access, caller)
      if (changesState && !meta.worksOnFullDisk && database.freeSpaceLow()) throw new Failure('DISK_FULL')
      const { bodyLimitBytes } = meta
      const { inputSchema: schema, isUpload } = route
      const isLimited = caller.kind === 'guest' && changesState
      if (isLimited) refusals.check(addressOf(c))
      const input = await readInput({ request, params: paramsOf(c), bodyLimitBytes, schema, isUpload }).catch(
        (error: unknown) => {
          if (isLimited) refusals.count(addressOf(c))
          throw error
        },
      )
      const context: CallContext = {
        caller,
        requestId,
        address: addressOf(c),
        sessionToken,
        setSessionToken: (token) => {
          headers['set-cookie'] = cookie.write(token)
        },
        get signal() {
          return request.signal
        },
      }
      const output = await asKindOfCall(route.name, () => route.handler(input, context))
      if (!route.isDownload) return send({ status: 200, headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(output) })
      const download = output as { headers: Record<string, string>; body: ReadableStream }
      return send({ status: 200, headers: { ...download.headers, ...headers }, body: download.body })
    } catch (error) {
      const failure = toFailure(error, meta.unexpected)
      logFailure(log, failure, { requestId, method: request.method, route: route.name, address: addressOf(c) })
      const { status, headers: failed, body } = failureAnswer(failure, requestId, meta.failure)
      return send({ status, headers: { ...failed, ...headers }, body })
    }
  }
}

/** `/removeUser/{id}` as Hono writes it. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** The path's parameters, decoded. @throws Failure INVALID_INPUT for a malformed escape */
function paramsOf(c: Context<Env>): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  if (c.req.path.includes('%')) {
    try {
      decodeURIComponent(c.req.path)
    } catch {
      throw new Failure('INVALID_INPUT')
    }
  }
  return params
}

/** The peer as limits count it: an IPv4 address, or the /64 network that one IPv6 subscriber has (RFC 6177). */
function addressOf(c: Context<Env>): string {
  const address = c.env?.incoming?.socket.remoteAddress ?? 'local'
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length)
  return address.includes(':') ? `${expandIpv6(address).slice(0, 4).join(':')}::/64` : address
}

function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  return [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
}

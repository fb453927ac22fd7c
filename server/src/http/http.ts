/**
 * The HTTP layer: turns a Request into a Response. For every call of the contract, in this order: origin, who calls,
 * access, room on the disk, body and input, handler, answer. What matches no call is the web app or a 404.
 */
import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import type { BotTokens } from '#src/bot-tokens.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Sessions } from '#src/sessions.ts'
import { identify, refuseUnless, sessionCookie } from './caller.ts'
import { failureResponse, logFailure, toFailure } from './failures.ts'
import { setSecurityHeaders } from './headers.ts'
import { readInput } from './input.ts'
import { openApiDocument, renderDocs } from './openapi.ts'
import { refuseForeignOrigin } from './origin.ts'
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
  /** True once the server has begun to stop. */
  isStopping: () => boolean
}

type Env = { Bindings: Partial<HttpBindings> }

export function createHttp(services: HttpServices): Hono<Env> {
  const { routes, database, log } = services
  const isHttps = services.publicOrigin?.startsWith('https:') ?? false
  const cookie = sessionCookie(isHttps)
  const http = new Hono<Env>()

  http.use(async (c, next) => {
    await next()
    setSecurityHeaders(c.res.headers, isHttps)
  })

  for (const route of routes) http.on(route.method, honoPath(route.path), (c) => answer(c, route))
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.filter((route) => route.path === path).map((route) => route.method)
    http.all(honoPath(path), () => {
      const response = failureResponse(new Failure('METHOD_NOT_ALLOWED'), randomUUID())
      response.headers.set('allow', allow.join(', '))
      return response
    })
  }

  http.get('/healthz', (c) => c.json({ status: 'ok' }))
  http.get('/readyz', async (c) => {
    const isReady = !services.isStopping() && (await database.isReady())
    return c.json({ status: isReady ? 'ready' : 'not ready' }, isReady ? 200 : 503)
  })
  http.get('/api/openapi.json', async (c) => c.json(await openApiDocument(services.publicOrigin)))
  http.get('/api/docs', async (c) => c.html(renderDocs(await openApiDocument(services.publicOrigin))))

  http.get('*', (c) => {
    const { pathname } = new URL(c.req.url)
    const page = pathname === '/api' || pathname.startsWith('/api/') ? undefined : services.webApp?.(c.req.raw, pathname)
    return page ?? failureResponse(new Failure('NOT_FOUND'), randomUUID())
  })
  http.notFound(() => failureResponse(new Failure('NOT_FOUND'), randomUUID()))
  http.onError((error, c) => {
    const requestId = randomUUID()
    const failure = toFailure(error)
    logFailure(log, failure, { requestId, method: c.req.method, route: 'http', address: addressOf(c) })
    const response = failureResponse(failure, requestId)
    setSecurityHeaders(response.headers, isHttps)
    return response
  })
  return http

  async function answer(c: Context<Env>, route: BoundRoute): Promise<Response> {
    const request = c.req.raw
    const requestId = randomUUID()
    const { meta } = route
    const changesState = meta.changesState || route.method !== 'GET'
    let setCookie: string | undefined
    let response: Response
    try {
      if (route.isDownload && request.method === 'HEAD') throw new Failure('METHOD_NOT_ALLOWED')
      if (changesState) refuseForeignOrigin(request, services.publicOrigin)
      const sessionToken = cookie.read(request)
      const caller = await identify(request, sessionToken, services)
      refuseUnless(meta.access, caller)
      if (changesState && !meta.isTinyWrite && database.freeSpaceLow()) throw new Failure('DISK_FULL')
      const { bodyLimitBytes } = meta
      const input = await readInput({ request, params: paramsOf(c), bodyLimitBytes, schema: route.inputSchema })
      const context: CallContext = {
        caller,
        requestId,
        address: addressOf(c),
        sessionToken,
        setSessionToken: (token) => {
          setCookie = cookie.write(token)
        },
        get signal() {
          return request.signal
        },
      }
      response = respond(await route.handler(input, context), route)
    } catch (error) {
      const failure = toFailure(error, meta.unexpected)
      logFailure(log, failure, { requestId, method: request.method, route: route.name, address: addressOf(c) })
      response = failureResponse(failure, requestId, meta.failure)
    }
    if (setCookie !== undefined) response.headers.set('set-cookie', setCookie)
    response.headers.set('x-request-id', requestId)
    return response
  }
}

function respond(output: unknown, route: BoundRoute): Response {
  if (route.isDownload) {
    const { headers, body } = output as { headers: Record<string, string>; body: ReadableStream }
    return new Response(body, { headers })
  }
  return new Response(JSON.stringify(output), { headers: { 'content-type': 'application/json' } })
}

/** `/removeUser/{id}` as Hono writes it. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** The path's parameters, decoded. @throws Failure INVALID_INPUT for a malformed escape */
function paramsOf(c: Context<Env>): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  try {
    decodeURIComponent(new URL(c.req.url).pathname)
  } catch {
    throw new Failure('INVALID_INPUT')
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

/** Checks that any answer fits the contract, without the server's own routing and validation. */
import type { AnyContractRouter } from '@orpc/contract'
import { z, type ZodType } from 'zod'
import { admitsBot } from '@arcade/contract/call'
import { contract } from '@arcade/contract/contract'
import { type ErrorBody, type ErrorCode, errorCatalogue } from '@arcade/contract/errors'
import { CSV_MEDIA_TYPE, XLSX_MEDIA_TYPE } from '@arcade/contract/downloads/calls'
import type { Route } from '#src/http/routes.ts'
import { expect } from 'vitest'
import { type Principal, routes } from './requests.ts'
import type { Received, Sent } from './world.ts'

const MAX_ERROR_BYTES = 8192
const MAX_NODE_HEADER_BYTES = 16_384

/** Where a request's method and path lead to. */
export type Reached =
  | { kind: 'call'; route: Route; params: Record<string, string> }
  | { kind: 'other method'; methods: string[] }
  | { kind: 'nothing' }

const byPath = routes
  .toSorted((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  .map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
    names: [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
  }))

/** Finds the call of a request. Among calls with its method, a path without parameters wins. */
export function reach({ method, path }: Pick<Sent, 'method' | 'path'>): Reached {
  const { pathname } = new URL(path, 'http://console.test')
  const atPath = byPath.flatMap(({ route, pattern, names }) => {
    const found = pattern.exec(pathname)
    return found ? [{ route, params: Object.fromEntries(names.map((name, index) => [name, decoded(found[index + 1]!)])) }] : []
  })
  if (atPath.length === 0) return { kind: 'nothing' }
  const reached = atPath.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method))
  return reached ? { kind: 'call', ...reached } : { kind: 'other method', methods: atPath.map(({ route }) => route.method) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return '\0' // not valid UTF-8; the server must refuse it, and this text is refused too
  }
}

/** Whether the contract accepts the request's input. */
export function isValidInput(sent: Sent, route: Route, params: Record<string, string>): boolean {
  if (!route.inputSchema) return true // without a schema, the call reads neither query nor body
  const { searchParams } = new URL(sent.path, 'http://console.test')
  const query = Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
  if (route.isUpload) return isSafe(query) && parses(route.inputSchema, { query, body: {} })
  if (route.method === 'GET' || route.method === 'DELETE') {
    return isSafe({ ...query, ...params }) && parses(route.inputSchema, { ...query, ...params })
  }
  const type = sent.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  // A request without a body is one without fields. Browsers send it without a type, other clients also with the one of JSON.
  const isWithoutBody = (type === undefined || type === 'application/json') && (sent.body?.length ?? 0) === 0
  const body = isWithoutBody ? {} : type === 'application/json' ? jsonOf(sent.body) : undefined
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  // The server checks these rows one by one and refuses single rows, not the request.
  const { [route.meta.rowsField ?? '']: _rows, ...others } = body as Record<string, unknown>
  return isSafe({ ...others, ...params }) && parses(route.inputSchema, { ...body, ...params })
}

function parses(schema: ZodType, input: unknown): boolean {
  return schema.safeParse(input).success
}

function jsonOf(body: string | Uint8Array | undefined): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    return undefined
  }
}

/** security.md, Input: no U+0000, no half characters, no prototypes, no deep nesting. */
function isSafe(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  return (
    depth <= 16 &&
    Object.entries(value).every(
      ([name, part]) => isSafe(name) && !['__proto__', 'constructor', 'prototype'].includes(name) && isSafe(part, depth + 1),
    )
  )
}

/** Returns the status with which a call must refuse a principal; `undefined` if the principal may make the call. */
export function refusalOf(route: Route, principal: Principal): 401 | 403 | undefined {
  const { access } = route.meta
  if (principal === 'stranger') return 401
  if (access.includes('guest')) return undefined
  if (['guest', 'removed', 'ended'].includes(principal)) return 401
  if (principal === 'bot') return admitsBot(access, 'admin') ? undefined : 403
  if (principal === 'user') return access.includes('user') ? undefined : 403
  return access.includes('user') || access.includes('admin') ? undefined : 403
}

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': expect.stringContaining("default-src 'none'"),
  'cache-control': expect.stringMatching(/no-store|private/),
}

/** Checks an answer. Returns the error code if it is a refusal. @throws Error that says what is wrong */
export function checkAnswer(sent: Sent, principal: Principal, received: Received): ErrorCode | undefined {
  const { status, headers } = received
  expect(status, 'no fault of the server').toBeLessThan(500)
  if (status === 431) {
    expect(sent.path.length, 'Node itself refuses long addresses').toBeGreaterThan(MAX_NODE_HEADER_BYTES / 2)
    return undefined
  }
  expect(headers).toMatchObject(securityHeaders)
  const reached = reach(sent)
  if (sent.method === 'HEAD') {
    expect(received.bytes).toHaveLength(0)
    return undefined
  }
  if (status >= 400) {
    const error = checkError(received, reached.kind === 'call' ? reached.route.meta.failure : 'envelope')
    if (reached.kind === 'nothing') expect(error.code).toBe('NOT_FOUND')
    if (reached.kind === 'other method') {
      expect(error.code).toBe('METHOD_NOT_ALLOWED')
      expect(headers['allow']?.split(', ').toSorted()).toEqual(reached.methods.toSorted())
    }
    if (reached.kind === 'call') checkRefusal(sent, principal, reached.route, error)
    return error.code
  }
  expect(reached.kind, 'only a call answers').toBe('call')
  if (reached.kind !== 'call') return undefined
  expect(status).toBe(200)
  expect(refusalOf(reached.route, principal), 'the call is for this principal').toBeUndefined()
  expect(isForeign(sent, reached.route), 'no other web site may call it').toBe(false)
  expect(isValidInput(sent, reached.route, reached.params), 'the contract takes this input').toBe(true)
  checkOutput(sent, reached.route, received)
  return undefined
}

const WRONG_TOKEN = 'This bot token is wrong, or was revoked or replaced.'

function checkRefusal(sent: Sent, principal: Principal, route: Route, error: ErrorBody): void {
  if (isForeign(sent, route)) {
    expect(error.code).toBe('CROSS_ORIGIN')
    return
  }
  const refusal = refusalOf(route, principal)
  if (refusal !== undefined) {
    expect(error.code).toBe(refusal === 401 ? 'SIGNED_OUT' : 'FORBIDDEN')
    const message = principal === 'stranger' ? WRONG_TOKEN : errorCatalogue[error.code].message
    expect(error.message, 'reveals nothing').toBe(message)
    expect(error.fields).toBeUndefined()
  } else {
    expect(error.code).not.toBe('FORBIDDEN')
  }
}

/**
 * Whether the request comes from another web site and must be refused (security.md, Browser): calls that change something or send a
 * spreadsheet are for the console's own pages only, except calls of players' clients, which use no cookie. Generated requests never
 * have the console's own origin.
 */
function isForeign({ headers }: Sent, route: Route): boolean {
  if (route.meta.access.includes('player')) return false
  if (route.method === 'GET' && !route.meta.changesState && !route.meta.isForOwnPages) return false
  const site = headers['sec-fetch-site']
  return site !== undefined ? !['same-origin', 'none'].includes(site) : headers['origin'] !== undefined
}

const errorBody = z.strictObject({
  success: z.union([z.literal(false), z.literal('failed')]),
  status: z.literal('failed').optional(),
  message: z.string().min(1),
  error: z.string().optional(),
  code: z.enum(Object.keys(errorCatalogue) as ErrorCode[]),
  requestId: z.uuid(),
  fields: z.record(z.string(), z.string()).optional(),
  retryAfterSeconds: z.int().optional(),
})

function checkError({ status, headers, bytes }: Received, failure: Route['meta']['failure']): ErrorBody {
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(bytes.length, 'a short answer').toBeLessThanOrEqual(MAX_ERROR_BYTES)
  const body = errorBody.parse(JSON.parse(bytes.toString()))
  expect(errorCatalogue[body.code].status).toBe(status)
  expect(body.success).toBe(failure === 'success' ? 'failed' : false)
  expect(body.status).toBe(failure === 'status' ? 'failed' : undefined)
  expect(body.error).toBe(failure === 'error' ? body.message : undefined)
  expect(headers['x-request-id']).toBe(body.requestId)
  return body as ErrorBody
}

function checkOutput(sent: Sent, route: Route, { headers, bytes }: Received): void {
  if (route.isDownload) {
    const type = headers['content-type'] ?? ''
    if (route.name === 'dashboard.events') expect(type).toBe('text/event-stream')
    else if (/^(announcements|game)\.file$/.test(route.name)) expect(type).toMatch(/^image\/(png|webp)$/)
    else if (isForCsv(sent)) {
      expect(type).toBe(CSV_MEDIA_TYPE)
      expect(headers['content-disposition']).toMatch(/^attachment; filename="[^"]*\.csv"(; filename\*=UTF-8''\S+\.csv)?$/)
      expect(bytes.subarray(0, 3).toString('hex'), 'a byte order mark').toBe('efbbbf')
    } else {
      expect(type).toBe(XLSX_MEDIA_TYPE)
      expect(headers['content-disposition']).toMatch(/^attachment; filename=/)
      expect(bytes.subarray(-22, -18).toString('latin1'), 'a zip to its end').toBe('PK\x05\x06')
    }
    return
  }
  expect(headers['content-type']).toMatch(/^application\/json/)
  const body = JSON.parse(bytes.toString()) as unknown
  // Parsing drops fields that the schema does not name, so equality proves that there were none.
  expect(outputOf(route).parse(body)).toEqual(body)
}

function outputOf({ name }: Route): ZodType {
  const procedure = name
    .split('.')
    .reduce<AnyContractRouter>((part, key) => (part as Record<string, AnyContractRouter>)[key]!, contract)
  return (procedure as unknown as { '~orpc': { outputSchema: ZodType } })['~orpc'].outputSchema
}

function isForCsv({ path, body }: Sent): boolean {
  const { searchParams } = new URL(path, 'http://console.test')
  return searchParams.get('format') === 'csv' || (jsonOf(body) as { format?: unknown } | undefined)?.format === 'csv'
}

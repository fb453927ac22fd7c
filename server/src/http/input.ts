/** Reads and checks a request's input before a handler sees it (security.md, Input). A body of unknown length is counted while it streams. */
import type { z, ZodType } from 'zod'
import { Failure } from '#src/calls.ts'
import { parseJson, refuseUnsafe } from './json.ts'

/** The most query parameters of a request: more than any URL of the console has. */
const MAX_QUERY_PARAMETERS = 100
/** The most invalid fields that a refusal names, and the most characters of the input that it shows. */
const MAX_FIELDS = 20
const MAX_SHOWN_CHARACTERS = 200

export interface RawInput {
  request: Request
  params: Record<string, string>
  bodyLimitBytes: number
  /** The field of rows that the call checks one by one, from the call's meta. */
  rowsField: string | undefined
  schema: ZodType | undefined
  /** Whether the query may contain options besides the body, such as `?format=csv`. */
  isDownload: boolean
  /** Whether the body is a file; the input is then `{query, body}` with its bytes. */
  isUpload: boolean
}

/** Reads the body, as long as the client takes to send it. Returns `undefined` for a request without one. @throws Failure */
export async function readBody({ request, bodyLimitBytes, schema, isUpload }: RawInput): Promise<Uint8Array | undefined> {
  if (!schema) return undefined
  if (isUpload) return readImage(request, bodyLimitBytes)
  return carriesBody(request) ? readJson(request, bodyLimitBytes) : undefined
}

/**
 * Returns the path parameters and the query (GET, DELETE) or the JSON body, parsed by the call's schema.
 * @param body what `readBody` returned
 * @throws Failure
 */
export async function readInput(
  { request, params, bodyLimitBytes: limitBytes, rowsField, schema, isDownload, isUpload }: RawInput,
  body: Uint8Array | undefined,
): Promise<unknown> {
  if (!schema) return undefined
  if (isUpload) return check(schema, { query: readQuery(new URL(request.url)), body })
  const hasBody = carriesBody(request)
  const parsed = (): unknown => (body === undefined ? {} : parseJson(body, { limitBytes, rowsField }))
  const given = hasBody ? await parsed() : readQuery(new URL(request.url))
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Failure('INVALID_INPUT')
  refuseUnsafe(params)
  const options = hasBody && isDownload ? readQuery(new URL(request.url)) : {}
  return check(schema, { ...options, ...given, ...params })
}

function check(schema: ZodType, input: unknown): unknown {
  const result = schema.safeParse(input, { error: plainSentence })
  if (result.success) return result.data
  const shown = (text: string): string => text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()
  const fields: Record<string, string> = {}
  for (const issue of result.error.issues.slice(0, MAX_FIELDS)) fields[shown(issue.path.join('.'))] ??= shown(issue.message)
  const first = result.error.issues[0]
  throw new Failure('INVALID_INPUT', {
    fields,
    message: first && first.path.length > 0 ? shown(first.message) : 'The request is not valid.',
  })
}

const kindNames: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** Returns a message for an invalid value whose field has no message of its own. */
function plainSentence(issue: z.core.$ZodRawIssue): string {
  const name = issue.path?.length ? issue.path.join('.') : 'The request'
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return `${name} is required`
    return `${name} must be ${kindNames[issue.expected] ?? 'of another kind'}`
  }
  if (issue.code === 'invalid_value') return `${name} must be one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'unrecognized_keys') return `There is no field ${issue.keys.join(', ')}`
  if (issue.code === 'too_small') return `${name} must be at least ${amountOf(issue.origin, issue.minimum)}`
  if (issue.code === 'too_big') return `${name} must be at most ${amountOf(issue.origin, issue.maximum)}`
  return `${name} is not valid`
}

function amountOf(origin: string, limit: number | bigint): string {
  const noun = { string: ' character', array: ' item' }[origin]
  return noun === undefined ? String(limit) : `${limit}${noun}${Number(limit) === 1 ? '' : 's'}`
}

/** Refuses a part of an address whose escapes are malformed or not UTF-8. @throws Failure INVALID_INPUT */
export function refuseMalformed(escaped: string): void {
  try {
    decodeURIComponent(escaped)
  } catch {
    throw new Failure('INVALID_INPUT')
  }
}

/** Returns the query parameters. A repeated parameter becomes an array, which every schema refuses. */
function readQuery({ search, searchParams }: URL): Record<string, string | string[]> {
  if (searchParams.size > MAX_QUERY_PARAMETERS) throw new Failure('INVALID_INPUT')
  refuseMalformed(search)
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const [key, value] of searchParams) query[key] = key in query ? [query[key] ?? [], value].flat() : value
  refuseUnsafe(query)
  return query
}

const JSON_TYPE = 'application/json'

function carriesBody({ method }: Request): boolean {
  return !['GET', 'HEAD', 'DELETE'].includes(method)
}

async function readJson(request: Request, limitBytes: number): Promise<Uint8Array | undefined> {
  if (hasNoBody(request)) return undefined
  if (mediaType(request) !== JSON_TYPE) throw new Failure('UNSUPPORTED_MEDIA_TYPE')
  if (!isUtf8(request)) throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: 'The request must be in UTF-8.' }) // RFC 8259, 8.1
  return readBytes(request, limitBytes)
}

/** Whether a request has no body. Clients send such a request for a call that needs no fields, some with the type of JSON. */
function hasNoBody(request: Request): boolean {
  const { headers } = request
  if (headers.get('transfer-encoding') !== null || (headers.get('content-length') ?? '0') !== '0') return false
  if (!headers.has('content-type')) return true
  return mediaType(request) === JSON_TYPE && (headers.has('content-length') || request.body === null)
}

/** Returns the media type of the body, such as `image/png`. Returns '' if the request does not say one. */
function mediaType({ headers }: Request): string {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Whether the body is in UTF-8, also if the request does not say so. */
function isUtf8({ headers }: Request): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(headers.get('content-type') ?? '') ?? []
  return /^utf-?8$/i.test(charset)
}

async function readImage(request: Request, limitBytes: number): Promise<Uint8Array> {
  const type = mediaType(request)
  if (!type.startsWith('image/') && type !== 'application/octet-stream') {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: 'The request must be an image.' })
  }
  return readBytes(request, limitBytes, `The file must be at most ${limitBytes / 1024 / 1024} MB.`)
}

/** Reads the whole body, up to a limit. @throws Failure TOO_LARGE as soon as the limit is exceeded */
async function readBytes(request: Request, limitBytes: number, tooLarge?: string): Promise<Uint8Array> {
  if ((request.headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: 'The request must not be compressed.' }) // RFC 9110, 8.4
  const refused = (): Failure => new Failure('TOO_LARGE', tooLarge === undefined ? {} : { message: tooLarge })
  const brokenOff = (cause: unknown): never => {
    // The client has closed the connection, which is no fault of the server or its database.
    throw new Failure('INVALID_INPUT', { message: 'The request broke off.', cause })
  }
  const contentLength = request.headers.get('content-length')
  if (Number(contentLength ?? 0) > limitBytes) throw refused()
  // Node reads no more than Content-Length (RFC 9112, 6.3), so this is within the limit; streaming a small body would take far longer.
  if (contentLength !== null) return new Uint8Array(await request.arrayBuffer().catch(brokenOff))
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader()
  if (!reader) return new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read().catch(brokenOff)
    if (done) return Buffer.concat(chunks, length)
    length += value.byteLength
    if (length > limitBytes) {
      void reader.cancel().catch(() => {})
      throw refused()
    }
    chunks.push(value)
  }
}

/** Reads and checks what a request carries before any handler sees it (security.md, Input). Bodies are counted while they stream. */
import type { ZodType } from 'zod'
import { Failure } from '#src/calls.ts'

const MAX_DEPTH = 16

export interface RawInput {
  request: Request
  params: Record<string, string>
  bodyLimitBytes: number
  schema: ZodType | undefined
  /** The body is a file as it is, and the input `{query, body}` with its bytes. */
  isUpload: boolean
}

/** Gives the path parameters with the query (GET, DELETE) or the JSON body, as the call's schema parses them. @throws Failure */
export async function readInput({ request, params, bodyLimitBytes, schema, isUpload }: RawInput): Promise<unknown> {
  if (!schema) return undefined
  if (isUpload) {
    const query = readQuery(new URL(request.url))
    refuseUnsafe(query)
    return check(schema, { query, body: await readFile(request, bodyLimitBytes) })
  }
  const carriesBody = request.method !== 'GET' && request.method !== 'DELETE'
  const given = carriesBody ? await readJson(request, bodyLimitBytes) : readQuery(new URL(request.url))
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Failure('INVALID_INPUT')
  const input = { ...given, ...params }
  refuseUnsafe(input)
  return check(schema, input)
}

function check(schema: ZodType, input: unknown): unknown {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const fields: Record<string, string> = {}
  for (const issue of result.error.issues) fields[issue.path.join('.')] ??= issue.message
  const first = result.error.issues[0]
  throw new Failure('INVALID_INPUT', {
    fields,
    message: first && first.path.length > 0 ? first.message : 'The request is not valid.',
  })
}

function readQuery(url: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const key of url.searchParams.keys()) {
    const values = url.searchParams.getAll(key)
    query[key] = values.length > 1 ? values : (values[0] ?? '')
  }
  return query
}

async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new Failure('UNSUPPORTED_MEDIA_TYPE')
  const bytes = await readBytes(request, limitBytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch {
    throw new Failure('INVALID_INPUT', { message: 'The request is not valid JSON.' })
  }
}

async function readFile(request: Request, limitBytes: number): Promise<Uint8Array> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!type.startsWith('image/') && type !== 'application/octet-stream') {
    throw new Failure('UNSUPPORTED_MEDIA_TYPE', { message: 'The request must be an image.' })
  }
  return readBytes(request, limitBytes, `The file must be at most ${limitBytes / 1024 / 1024} MB.`)
}

/** The whole body, up to a limit. @throws Failure TOO_LARGE as soon as it is known, whatever content-length says */
async function readBytes(request: Request, limitBytes: number, tooLarge?: string): Promise<Uint8Array> {
  const refused = (): Failure => new Failure('TOO_LARGE', tooLarge === undefined ? {} : { message: tooLarge })
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw refused()
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader()
  if (!reader) return new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks, length)
    length += value.byteLength
    if (length > limitBytes) {
      void reader.cancel().catch(() => {})
      throw refused()
    }
    chunks.push(value)
  }
}

/** Refuses what PostgreSQL cannot store or what could reach JavaScript's prototypes: U+0000, lone surrogates, deep nesting, `__proto__`. */
function refuseUnsafe(value: unknown, depth = 0, key = ''): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) {
      throw new Failure('INVALID_INPUT', {
        message: 'Text must not hold control characters.',
        ...(key && { fields: { [key]: 'Text must not hold control characters.' } }),
      })
    }
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_DEPTH) throw new Failure('INVALID_INPUT', { message: 'The request is nested too deeply.' })
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || name === 'constructor' || name === 'prototype') throw new Failure('INVALID_INPUT')
    refuseUnsafe(name, depth)
    refuseUnsafe((value as Record<string, unknown>)[name], depth + 1, name)
  }
}

/** Bytes that are the same for everybody: compressed once, and sent only to clients that do not have them yet. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Answer, hasVersion } from './answer.ts'

export interface Asset {
  type: string
  etag: string
  cacheControl: string
  plain: Uint8Array<ArrayBuffer>
  gzip: Uint8Array<ArrayBuffer> | undefined
}

/** The cache rule for bytes that may change with the next version: browsers ask each time whether they have changed. */
export const ASK_EACH_TIME = 'no-cache'

export async function createAsset(
  plain: Uint8Array<ArrayBuffer>,
  { type, cacheControl }: Pick<Asset, 'type' | 'cacheControl'>,
): Promise<Asset> {
  const compressed = new Uint8Array(await promisify(gzip)(plain, { level: 9 }))
  return {
    type,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`,
    cacheControl,
    plain,
    gzip: compressed.byteLength < plain.byteLength * 0.95 ? compressed : undefined,
  }
}

/** Answers with 304 and without the bytes if the client has this version. */
export function assetAnswer(request: Request, asset: Asset): Answer {
  const headers: Record<string, string> = {
    'content-type': asset.type,
    etag: asset.etag,
    'cache-control': asset.cacheControl,
    vary: 'accept-encoding',
  }
  if (hasVersion(request, asset.etag)) return { status: 304, headers, body: null }
  const acceptsGzip = /(^|[\s,])gzip\s*($|[,;])/.test(request.headers.get('accept-encoding') ?? '')
  const body = acceptsGzip && asset.gzip ? asset.gzip : asset.plain
  if (body === asset.gzip) headers['content-encoding'] = 'gzip'
  headers['content-length'] = String(body.byteLength)
  return { status: 200, headers, body: request.method === 'HEAD' ? null : body }
}

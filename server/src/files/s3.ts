/**
 * The file store in an S3-compatible bucket: `s3://bucket/prefix?endpoint=https://…&region=…`. Credentials come from where the
 * AWS SDK looks for them (AWS_ACCESS_KEY_ID, a profile, an instance's role); the SDK is loaded with the first file.
 */
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '#src/calls.ts'
import { StartError } from '#src/postgres/errors.ts'
import { checkedKey, type FileStore } from './disk.ts'

const CONNECT_TIMEOUT_MS = 3000
const ANSWER_TIMEOUT_MS = 8000
const ATTEMPTS = 2
const PROBE_KEY = 'readiness/probe'
const WRITE_AGAIN_MS = 30_000

export function s3Store(url: string): FileStore {
  const { hostname: bucket, pathname, searchParams } = new URL(url)
  const prefix = pathname.replaceAll(/^\/+|\/+$/g, '')
  const endpoint = searchParams.get('endpoint') ?? undefined
  const region = searchParams.get('region') ?? undefined
  let loaded: ReturnType<typeof load> | undefined
  let writtenAt = Number.NEGATIVE_INFINITY

  async function load() {
    const sdk = await import('@aws-sdk/client-s3')
    const client = new sdk.S3Client({
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: ANSWER_TIMEOUT_MS, throwOnRequestTimeout: true },
      ...(region !== undefined && { region }),
      // Other makers' stores answer to one host name and know fewer checksums than Amazon's.
      ...(endpoint !== undefined && {
        endpoint,
        region: region ?? 'us-east-1',
        forcePathStyle: true,
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      }),
    })
    return { client, sdk }
  }

  /** Runs a request; `undefined` for a file that is not there. */
  async function send<T>(
    request: (client: S3Client, sdk: typeof import('@aws-sdk/client-s3')) => Promise<T>,
  ): Promise<T | undefined> {
    loaded ??= load()
    const { client, sdk } = await loaded
    try {
      return await request(client, sdk)
    } catch (error) {
      const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
      if (name === 'NoSuchKey' || name === 'NotFound') return undefined
      // No answer, a fault of the store or its limit on requests: it may work in a moment.
      const status = $metadata?.httpStatusCode
      throw status === undefined || status >= 500 || status === 429 ? storeUnavailable(error) : error
    }
  }

  const at = (key: string) => ({ Bucket: bucket, Key: prefix === '' ? checkedKey(key) : `${prefix}/${checkedKey(key)}` })

  const store: FileStore = {
    /** Writes an empty file, since a store that can be read need not take files; once it did, it is taken at its word for a while. */
    async check() {
      if (performance.now() - writtenAt < WRITE_AGAIN_MS) {
        await store.has(PROBE_KEY)
        return
      }
      await store.put(PROBE_KEY, new Uint8Array(), 'application/octet-stream').catch((error: unknown) => {
        const { name } = error as Error
        const reasons: Record<string, string> = {
          NoSuchBucket: `FILES_URL names the bucket ${bucket}, which does not exist: create it, or name another one.`,
          AccessDenied: `FILES_URL names the bucket ${bucket}, which refuses to store files: grant s3:GetObject, s3:PutObject and s3:DeleteObject on it.`,
        }
        throw reasons[name] === undefined ? error : new StartError(reasons[name], { cause: error })
      })
      writtenAt = performance.now()
    },

    async put(key, bytes, mediaType) {
      await send((client, sdk) =>
        client.send(
          new sdk.PutObjectCommand({ ...at(key), Body: bytes, ContentType: mediaType, ContentLength: bytes.byteLength }),
        ),
      )
    },

    async open(key) {
      const answer = await send((client, sdk) => client.send(new sdk.GetObjectCommand(at(key))))
      if (!answer?.Body) return undefined
      return { body: answer.Body.transformToWebStream(), lengthBytes: answer.ContentLength ?? 0 }
    },

    async has(key) {
      return (await send((client, sdk) => client.send(new sdk.HeadObjectCommand(at(key))))) !== undefined
    },

    async remove(key) {
      await send((client, sdk) => client.send(new sdk.DeleteObjectCommand(at(key))))
    },
  }
  return store
}

export function storeUnavailable(cause: unknown): Failure {
  return new Failure('UNAVAILABLE', {
    message: 'The file store is not available right now. Please try again in a moment.',
    cause,
    retryAfterSeconds: 5,
  })
}

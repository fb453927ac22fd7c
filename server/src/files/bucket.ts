/**
 * Objects in an S3-compatible store: `s3://bucket/prefix?endpoint=https://…&region=…`. The AWS SDK finds the credentials (AWS_ACCESS_KEY_ID,
 * a profile, an instance's role). It is loaded when the first object is used.
 */
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '#src/calls.ts'
import { StartError } from '#src/postgres/errors.ts'

export interface BucketOptions {
  /** The name of the setting with the address, such as `FILES_URL`, for error messages. */
  setting: string
  /** The error message while the store does not answer. */
  unavailable: string
  answerTimeoutMs: number
}

/** Objects by name, below the prefix of the address. */
export interface Bucket {
  put(name: string, bytes: Uint8Array, mediaType: string): Promise<void>
  /** Resolves with `undefined` if there is no such object. */
  open(name: string): Promise<{ body: ReadableStream; lengthBytes: number } | undefined>
  has(name: string): Promise<boolean>
  /** Removes an object; succeeds if there is none. */
  remove(name: string): Promise<void>
  /** Yields the names that begin with a prefix. */
  list(beginning: string): AsyncGenerator<string>
}

export function openBucket(url: string, { setting, unavailable, answerTimeoutMs }: BucketOptions): Bucket {
  const { hostname: bucket, pathname, searchParams } = new URL(url)
  const prefix = pathname.replaceAll(/^\/+|\/+$/g, '')
  const endpoint = searchParams.get('endpoint') ?? undefined
  const region = searchParams.get('region') ?? undefined
  let loaded: ReturnType<typeof load> | undefined

  async function load() {
    const sdk = await import('@aws-sdk/client-s3')
    const client = new sdk.S3Client({
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: answerTimeoutMs, throwOnRequestTimeout: true },
      ...(region !== undefined && { region }),
      // Stores other than Amazon's use a single host name and support fewer checksums.
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

  /** Sends a request. Resolves with `undefined` for an object that does not exist. */
  async function send<T>(
    request: (client: S3Client, sdk: typeof import('@aws-sdk/client-s3')) => Promise<T>,
  ): Promise<T | undefined> {
    loaded ??= load()
    const { client, sdk } = await loaded
    try {
      return await request(client, sdk)
    } catch (error) {
      const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
      if (name === 'NoSuchKey' || name === 'NotFound') return undefined
      const reason = {
        NoSuchBucket: `${setting} names the bucket ${bucket}, which does not exist: create it, or name another one.`,
        AccessDenied: `${setting} names the bucket ${bucket}, which refuses to store files: grant s3:GetObject, s3:PutObject and s3:DeleteObject on it.`,
      }[name]
      if (reason !== undefined) throw new StartError(reason, { cause: error })
      // No answer, an error of the store or its rate limit: the request may succeed shortly.
      const status = $metadata?.httpStatusCode
      throw status === undefined || status >= 500 || status === 429 ? storeUnavailable(unavailable, error) : error
    }
  }

  const at = (name: string) => ({ Bucket: bucket, Key: prefix === '' ? name : `${prefix}/${name}` })

  return {
    async put(name, bytes, mediaType) {
      await send((client, sdk) =>
        client.send(
          new sdk.PutObjectCommand({ ...at(name), Body: bytes, ContentType: mediaType, ContentLength: bytes.byteLength }),
        ),
      )
    },

    async open(name) {
      const answer = await send((client, sdk) => client.send(new sdk.GetObjectCommand(at(name))))
      if (!answer?.Body) return undefined
      return { body: answer.Body.transformToWebStream(), lengthBytes: answer.ContentLength ?? 0 }
    },

    async has(name) {
      return (await send((client, sdk) => client.send(new sdk.HeadObjectCommand(at(name))))) !== undefined
    },

    async remove(name) {
      await send((client, sdk) => client.send(new sdk.DeleteObjectCommand(at(name))))
    },

    async *list(beginning) {
      const { Bucket, Key: Prefix } = at(beginning)
      let next: string | undefined
      do {
        const page = await send((client, sdk) =>
          client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, ...(next !== undefined && { ContinuationToken: next }) })),
        )
        for (const { Key = '' } of page?.Contents ?? []) yield prefix === '' ? Key : Key.slice(prefix.length + 1)
        next = page?.NextContinuationToken
      } while (next !== undefined)
    },
  }
}

const CONNECT_TIMEOUT_MS = 3000
const ATTEMPTS = 2

export function storeUnavailable(message: string, cause: unknown): Failure {
  return new Failure('UNAVAILABLE', { message, cause, retryAfterSeconds: 5 })
}

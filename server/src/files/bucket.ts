/**
 * Objects in an S3-compatible store: `s3://bucket/prefix?endpoint=https://…&region=…`. The AWS SDK finds the credentials
 * (AWS_ACCESS_KEY_ID, a profile, an instance's role). It is loaded when the first object is used.
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

export function openBucket(url: string, options: BucketOptions): Bucket {
  return new S3Bucket(url, options)
}

type Sdk = typeof import('@aws-sdk/client-s3')

class S3Bucket implements Bucket {
  readonly #name: string
  readonly #prefix: string
  readonly #searchParams: URLSearchParams
  readonly #options: BucketOptions
  #loaded: ReturnType<typeof loadClient> | undefined

  constructor(url: string, options: BucketOptions) {
    const { hostname, pathname, searchParams } = new URL(url)
    this.#name = hostname
    this.#prefix = pathname.replaceAll(/^\/+|\/+$/g, '')
    this.#searchParams = searchParams
    this.#options = options
  }

  async put(name: string, bytes: Uint8Array, mediaType: string): Promise<void> {
    const content = { Body: bytes, ContentType: mediaType, ContentLength: bytes.byteLength }
    await this.#send((client, sdk) => client.send(new sdk.PutObjectCommand({ ...this.#at(name), ...content })))
  }

  async open(name: string): Promise<{ body: ReadableStream; lengthBytes: number } | undefined> {
    const answer = await this.#send((client, sdk) => client.send(new sdk.GetObjectCommand(this.#at(name))))
    if (!answer?.Body) return undefined
    return { body: answer.Body.transformToWebStream(), lengthBytes: answer.ContentLength ?? 0 }
  }

  async has(name: string): Promise<boolean> {
    return (await this.#send((client, sdk) => client.send(new sdk.HeadObjectCommand(this.#at(name))))) !== undefined
  }

  async remove(name: string): Promise<void> {
    await this.#send((client, sdk) => client.send(new sdk.DeleteObjectCommand(this.#at(name))))
  }

  async *list(beginning: string): AsyncGenerator<string> {
    const { Bucket, Key: Prefix } = this.#at(beginning)
    let next: string | undefined
    do {
      const page = await this.#send((client, sdk) =>
        client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, ...(next !== undefined && { ContinuationToken: next }) })),
      )
      for (const { Key = '' } of page?.Contents ?? []) yield this.#prefix === '' ? Key : Key.slice(this.#prefix.length + 1)
      next = page?.NextContinuationToken
    } while (next !== undefined)
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#name, Key: this.#prefix === '' ? name : `${this.#prefix}/${name}` }
  }

  /** Sends a request. Resolves with `undefined` for an object that does not exist. */
  async #send<T>(request: (client: S3Client, sdk: Sdk) => Promise<T>): Promise<T | undefined> {
    this.#loaded ??= loadClient(this.#searchParams, this.#options.answerTimeoutMs)
    const { client, sdk } = await this.#loaded
    try {
      return await request(client, sdk)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw this.#explain(error)
    }
  }

  /** Returns the error to throw instead: a StartError for what an operator can fix, and a Failure if the request may succeed shortly. */
  #explain(error: unknown): unknown {
    const { setting, unavailable } = this.#options
    const { name = '', $metadata } = error as SdkError
    const bucket = `${setting} names the bucket ${this.#name}`
    const rights = 's3:GetObject, s3:PutObject and s3:DeleteObject'
    const reason = {
      NoSuchBucket: `${bucket}, which does not exist: create it, or name another one.`,
      AccessDenied: `${bucket}, which refuses to store files: grant ${rights} on it.`,
    }[name]
    if (reason !== undefined) return new StartError(reason, { cause: error })
    // No answer, an error of the store or its rate limit: the request may succeed shortly.
    const status = $metadata?.httpStatusCode
    return status === undefined || status >= 500 || status === 429 ? storeUnavailable(unavailable, error) : error
  }
}

/** What the SDK's errors have. */
interface SdkError {
  name?: string
  $metadata?: { httpStatusCode?: number }
}

function isMissing(error: unknown): boolean {
  const { name } = error as SdkError
  return name === 'NoSuchKey' || name === 'NotFound'
}

/** Loads the SDK and creates a client. @param searchParams the query of the store's address, with its `endpoint` and `region` */
async function loadClient(searchParams: URLSearchParams, answerTimeoutMs: number): Promise<{ client: S3Client; sdk: Sdk }> {
  const endpoint = searchParams.get('endpoint') ?? undefined
  const region = searchParams.get('region') ?? undefined
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

const CONNECT_TIMEOUT_MS = 3000
const ATTEMPTS = 2

export function storeUnavailable(message: string, cause: unknown): Failure {
  return new Failure('UNAVAILABLE', { message, cause, retryAfterSeconds: 5 })
}

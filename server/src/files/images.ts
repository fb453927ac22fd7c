/**
 * Turns an uploaded file into an image that may be stored (security.md, Uploads). The image is recognised by its content, decoded and encoded
 * again, so that neither metadata nor hidden data is stored. GIF and WebP stay animated. Hides the decoding process and its limits.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { MAX_UPLOAD_FRAMES, MAX_UPLOAD_PIXELS, MAX_UPLOAD_SIDE_PIXELS } from '@arcade/contract/announcements/calls'
import { Failure } from '#src/calls.ts'
import type { DecoderAnswer, DecoderLimits, PreparedImage } from './image-decoder.ts'

export const THUMB_SIDE_PIXELS = 96

export interface Images {
  /** @throws Failure INVALID_INPUT if the file is not an acceptable image, UNAVAILABLE if too many images are waiting */
  prepare(bytes: Uint8Array): Promise<PreparedImage>
  /** Ends the decoding process. */
  stop(): void
}

interface ImageLimits extends DecoderLimits {
  /** The most images that are being decoded or waiting. */
  atOnce: number
  /** The elapsed time, whatever the load, after which a decoder counts as hanging and is killed. */
  wallMs: number
}

/** Images of 40 megapixels took up to 4 s of a processor and 470 MB when measured. */
const LIMITS: ImageLimits = {
  pixels: MAX_UPLOAD_PIXELS,
  sidePixels: MAX_UPLOAD_SIDE_PIXELS,
  frames: MAX_UPLOAD_FRAMES,
  thumbSidePixels: THUMB_SIDE_PIXELS,
  cpuMs: 20_000,
  memoryBytes: 768 * 1024 * 1024,
  atOnce: 16,
  wallMs: 60_000,
}

/** Milliseconds after which an idle decoder ends, which frees its memory. */
const IDLE_MS = 60_000
const RETRY_AFTER_SECONDS = 5
const ATTEMPTS = 2
const STDERR_KEPT_CHARACTERS = 2000
const PROGRAM = fileURLToPath(new URL('./image-decoder.ts', import.meta.url))

/** The decoding process starts with the first image. */
export function createImages(overrides: Partial<ImageLimits> = {}): Images {
  const limits = { ...LIMITS, ...overrides }
  let decoder: Decoder | undefined
  let idle: NodeJS.Timeout | undefined
  let inHand = 0
  let last: Promise<unknown> = Promise.resolve()

  const decode = async (bytes: Uint8Array, attempt = 1): Promise<PreparedImage> => {
    clearTimeout(idle)
    if (!decoder?.isAlive()) decoder = startDecoder(limits)
    try {
      return await decoder.decode(bytes)
    } catch (error) {
      if (!(error instanceof DecoderKilled)) throw error
      // The process may have been killed before it got the image.
      if (attempt < ATTEMPTS) return await decode(bytes, attempt + 1)
      throw unavailable('The image could not be decoded just now. Please try again in a moment.', error)
    } finally {
      idle = setTimeout(stop, IDLE_MS).unref()
    }
  }
  const stop = (): void => decoder?.kill()

  return {
    async prepare(bytes) {
      if (inHand >= limits.atOnce) throw unavailable('Too many images are being uploaded. Please try again in a moment.')
      inHand += 1
      const prepared = last.then(() => decode(bytes)).finally(() => (inHand -= 1))
      last = prepared.catch(() => {})
      return prepared
    },
    stop,
  }
}

interface Decoder {
  isAlive(): boolean
  /** Decodes one image. Call it again only when the previous image is done. */
  decode(bytes: Uint8Array): Promise<PreparedImage>
  kill(): void
}

function startDecoder({ atOnce: _atOnce, wallMs, ...limits }: ImageLimits): Decoder {
  const child = fork(PROGRAM, [JSON.stringify(limits)], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
    env: {}, // an image that takes over the decoder finds no password there
  })
  let isAlive = true
  let written = ''
  child.stderr?.on('data', (chunk: Buffer) => (written = (written + chunk.toString()).slice(-STDERR_KEPT_CHARACTERS)))
  child.on('error', () => (isAlive = false))
  child.on('exit', () => (isAlive = false))
  // The server may end while the decoder waits for an image.
  child.unref()
  child.channel?.unref()
  ;(child.stderr as { unref?: () => void } | null)?.unref?.()
  const kill = (): void => {
    isAlive = false
    child.kill('SIGKILL')
  }
  return {
    isAlive: () => isAlive,
    kill,
    async decode(bytes) {
      const answer = await askDecoder(child, { bytes, wallMs })
      if ('image' in answer) return answer.image
      if ('ended' in answer || answer.isLast) kill()
      if ('refused' in answer) throw refused(answer.refused, answer.cause)
      const cause = new DecoderKilled(`The process that decodes images ended with ${answer.ended}: ${written}`)
      // The image is to blame for a crash while it is decoded, unless the process was killed from outside.
      throw answer.ended === 'SIGKILL' || answer.ended === 'error' ? cause : refused('The image cannot be decoded.', cause)
    },
  }
}

class DecoderKilled extends Error {}

/** Resolves with the decoder's answer to an image, or with how the decoder ended. */
function askDecoder(
  child: ChildProcess,
  { bytes, wallMs }: { bytes: Uint8Array; wallMs: number },
): Promise<DecoderAnswer | { ended: string }> {
  const { promise, resolve } = Promise.withResolvers<DecoderAnswer | { ended: string }>()
  const handleMessage = (answer: DecoderAnswer): void => resolve(answer)
  const handleExit = (code: number | null, signal: string | null): void => resolve({ ended: signal ?? `exit code ${code}` })
  const handleError = (): void => resolve({ ended: 'error' })
  const timer = setTimeout(() => resolve({ ended: 'timeout' }), wallMs)
  child.once('message', handleMessage).once('exit', handleExit).once('error', handleError)
  child.send(bytes, (error) => {
    if (error) handleError()
  })
  return promise.finally(() => {
    clearTimeout(timer)
    child.off('message', handleMessage).off('exit', handleExit).off('error', handleError)
  })
}

function refused(message: string, cause?: unknown): Failure {
  return new Failure('INVALID_INPUT', { message, fields: { body: message }, cause })
}

function unavailable(message: string, cause?: unknown): Failure {
  return new Failure('UNAVAILABLE', { message, cause, retryAfterSeconds: RETRY_AFTER_SECONDS })
}

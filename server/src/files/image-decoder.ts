/**
 * The process that decodes uploaded images, so that a hostile image can harm this process only, never the server. images.ts sends it one
 * image at a time. It ends itself when an image exceeds the limits, because its main thread is idle while sharp's threads work.
 */
import os from 'node:os'
import { fileTypeFromBuffer } from 'file-type'
import sharp from 'sharp'

/** The limits, which the process gets as JSON in its only argument. */
export interface DecoderLimits {
  pixels: number
  sidePixels: number
  frames: number
  thumbSidePixels: number
  /** The processor time for one image. */
  cpuMs: number
  /** The memory of the whole process. */
  memoryBytes: number
}

export interface PreparedImage {
  extension: 'png' | 'jpg' | 'webp' | 'gif'
  bytes: Uint8Array
  thumb: Uint8Array
}

/** `refused` is the reason for the operator, `cause` is for the log. With `isLast` the process ends. */
export type DecoderAnswer = { image: PreparedImage } | { refused: string; cause?: string; isLast?: true }

/** The stored format for each type of file. Of an animated PNG the first frame is kept, because sharp cannot write animated ones. */
const formats = {
  'image/png': 'png',
  'image/apng': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
} as const
/**
 * The formats whose EXIF orientation browsers apply. The operator saw such an image turned before the upload, and a WebP with the same tag
 * unturned (https://drafts.csswg.org/css-images-3/#the-image-orientation; Chromium reads the tag in JPEG and PNG only). All that is made of
 * an upload follows this rule.
 */
const ORIENTED_BY_BROWSERS: readonly string[] = ['jpg', 'png']
const NOT_AN_IMAGE = 'The file must be a PNG, JPEG, WebP or GIF image.'
const TOO_COSTLY = 'The image takes too much time or memory to decode.'
const WATCH_MS = 20
/** A niceness that lets the server answer requests first when the processors are busy. */
const NICENESS = 10

const limits = JSON.parse(process.argv[2] ?? '') as DecoderLimits

class Refusal extends Error {}

sharp.cache(false)
os.setPriority(Math.max(os.getPriority(), NICENESS)) // only root may raise it
// Ctrl-C in a terminal also signals this process, but the server still needs it to answer running requests.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.on('disconnect', end)
process.on('message', (bytes: Uint8Array) => {
  const stopWatching = endWhenBeyond()
  void answerTo(bytes).then((answer) => {
    stopWatching()
    process.send?.(answer)
  })
})

/** Kills this process, because `process.exit` would wait for sharp's threads. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Watches the time and memory that the current image takes. */
function endWhenBeyond(): () => void {
  const start = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(start)
    if ((user + system) / 1000 <= limits.cpuMs && process.memoryUsage.rss() <= limits.memoryBytes) return
    clearInterval(timer)
    process.send?.({ refused: TOO_COSTLY, isLast: true } satisfies DecoderAnswer, end)
  }, WATCH_MS)
  return () => clearInterval(timer)
}

async function answerTo(bytes: Uint8Array): Promise<DecoderAnswer> {
  try {
    return { image: await prepare(bytes) }
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message }
    return { refused: 'The image is damaged or incomplete.', cause: String(error) }
  }
}

async function prepare(bytes: Uint8Array): Promise<PreparedImage> {
  const mime = (await fileTypeFromBuffer(bytes))?.mime ?? ''
  if (!Object.hasOwn(formats, mime)) throw new Refusal(NOT_AN_IMAGE)
  const extension = formats[mime as keyof typeof formats]
  const options = {
    limitInputPixels: limits.pixels,
    failOn: 'error',
    animated: extension === 'gif' || extension === 'webp',
  } as const
  await refuseBeyondLimits(bytes, extension)
  const autoOrient = ORIENTED_BY_BROWSERS.includes(extension)
  const image = sharp(bytes, { ...options, autoOrient })
  const whole = extension === 'jpg' ? image.jpeg({ quality: 90 }) : image.toFormat(extension)
  const thumb = sharp(bytes, { ...options, autoOrient, animated: false })
    .resize(limits.thumbSidePixels, limits.thumbSidePixels, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 })
  return { extension, bytes: await whole.toBuffer(), thumb: await thumb.toBuffer() }
}

/** Checks the header before any pixel is decoded. @throws Refusal */
async function refuseBeyondLimits(bytes: Uint8Array, extension: PreparedImage['extension']): Promise<void> {
  const { format, width, height, pages = 1 } = await sharp(bytes, { failOn: 'error', limitInputPixels: false }).metadata()
  if (format !== (extension === 'jpg' ? 'jpeg' : extension)) throw new Refusal(NOT_AN_IMAGE)
  if (pages > limits.frames) throw new Refusal(`The animation must have at most ${limits.frames} frames.`)
  if (Math.max(width, height) > limits.sidePixels)
    throw new Refusal(`The image must have at most ${limits.sidePixels} pixels on a side.`)
  if (width * height * pages > limits.pixels)
    throw new Refusal(`The image must have at most ${limits.pixels / 1_000_000} megapixels.`)
}

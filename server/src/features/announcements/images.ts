/**
 * From an uploaded file to what may be stored (security.md, Uploads): an image by its content, decoded and written anew, so
 * that neither metadata nor anything hidden in the file gets into the store. Animations of GIF and WebP stay.
 */
import { UPLOAD_LIMIT_PIXELS } from '@arcade/contract/announcements'
import { Failure } from '#src/calls.ts'

export const THUMB_SIDE_PIXELS = 96

export interface PreparedImage {
  extension: 'png' | 'jpg' | 'webp' | 'gif'
  bytes: Uint8Array
  thumb: Uint8Array
}

const formats = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp', 'image/gif': 'gif' } as const

let turn: Promise<unknown> = Promise.resolve()

/** Decodes and writes anew, one image at a time: it takes the threads that hashing passwords and reading files need too. */
export function prepareImage(bytes: Uint8Array): Promise<PreparedImage> {
  const prepared = turn.then(() => prepare(bytes))
  turn = prepared.catch(() => {})
  return prepared
}

async function prepare(bytes: Uint8Array): Promise<PreparedImage> {
  // Loaded with the first image: 18 MB of library that most requests never need.
  const [{ fileTypeFromBuffer }, { default: sharp }] = await Promise.all([import('file-type'), import('sharp')])
  sharp.cache(false)
  const mime = (await fileTypeFromBuffer(bytes))?.mime ?? ''
  if (!Object.hasOwn(formats, mime)) throw refused('The file must be a PNG, JPEG, WebP or GIF image.')
  const extension = formats[mime as keyof typeof formats]
  const options = {
    limitInputPixels: UPLOAD_LIMIT_PIXELS,
    failOn: 'error',
    animated: extension === 'gif' || extension === 'webp',
  } as const
  try {
    // Read from the header, before a pixel is decoded. Of an animation all frames count.
    const { format, width, height } = await sharp(bytes, { ...options, limitInputPixels: false }).metadata()
    if (format !== (extension === 'jpg' ? 'jpeg' : extension)) throw refused('The file must be a PNG, JPEG, WebP or GIF image.')
    if (width * height > UPLOAD_LIMIT_PIXELS)
      throw refused(`The image must have at most ${UPLOAD_LIMIT_PIXELS / 1_000_000} megapixels.`)
    const image = sharp(bytes, options)
    const whole = extension === 'jpg' ? image.autoOrient().jpeg({ quality: 90 }) : image.toFormat(extension)
    const thumb = sharp(bytes, { ...options, animated: false })
      .autoOrient()
      .resize(THUMB_SIDE_PIXELS, THUMB_SIDE_PIXELS, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
    return { extension, bytes: await whole.toBuffer(), thumb: await thumb.toBuffer() }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw refused('The image is damaged or incomplete.', error)
  }
}

function refused(message: string, cause?: unknown): Failure {
  return new Failure('INVALID_INPUT', { message, fields: { body: message }, cause })
}

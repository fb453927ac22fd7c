/** Checks the content of a chosen image file (§5), so that what the server would refuse is refused at once. The server checks again. */
import { MAX_UPLOAD_BYTES, MAX_UPLOAD_PIXELS, MAX_UPLOAD_SIDE_PIXELS } from '@arcade/contract/announcements/calls'
import { isolated, shownFileName } from '@arcade/contract/text'

/** Bytes of the longest signature below, that of WebP. */
const SIGNATURE_BYTES = 12

/** The first bytes of a PNG, JPEG, GIF or WebP, each byte in hexadecimal. */
const signature = /^(?:89504e470d0a1a0a|ffd8ff|474946383[79]61|52494646.{8}57454250)/

/** Returns why a file is refused as an image, in a sentence with the file's name; undefined if it is accepted. */
export async function imageProblem(file: File): Promise<string | undefined> {
  const name = isolated(shownFileName(file.name))
  if (file.size > MAX_UPLOAD_BYTES) return `${name} is larger than ${MAX_UPLOAD_BYTES / 1024 / 1024} MB.`
  const start = new Uint8Array(await file.slice(0, SIGNATURE_BYTES).arrayBuffer())
  if (!signature.test(Array.from(start, (byte) => byte.toString(16).padStart(2, '0')).join('')))
    return `${name} must be a PNG, JPEG, WebP or GIF image.`
  return decodingProblem(file, name)
}

async function decodingProblem(file: File, name: string): Promise<string | undefined> {
  const url = URL.createObjectURL(file)
  const image = new Image()
  image.src = url
  try {
    await image.decode()
    const { naturalWidth: width, naturalHeight: height } = image
    if (Math.max(width, height) > MAX_UPLOAD_SIDE_PIXELS)
      return `${name} has more than ${MAX_UPLOAD_SIDE_PIXELS} pixels on a side.`
    return width * height > MAX_UPLOAD_PIXELS ? `${name} has more than ${MAX_UPLOAD_PIXELS / 1_000_000} megapixels.` : undefined
  } catch {
    return `${name} is damaged or incomplete.`
  } finally {
    URL.revokeObjectURL(url)
  }
}

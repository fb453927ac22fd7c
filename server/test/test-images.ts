/** Images for tests of uploads, harmless and hostile, and the requests that upload and download them. */
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'

export const canvas = (width = 300, height = 200) => sharp({ create: { width, height, channels: 3, background: '#2fedbf' } })
export const png = await canvas().png().toBuffer()

interface App {
  fetch(path: string, init?: RequestInit): Promise<Response>
}
interface Client {
  headers: Record<string, string>
}

interface UploadAnswer {
  status: number
  body: { key: string; name: string; message: string; fields?: unknown; code?: string }
}

export async function upload(
  app: App,
  client: Client,
  bytes: Uint8Array,
  name = 'banner.png',
  type = 'image/png',
): Promise<UploadAnswer> {
  const response = await app.fetch(`/api/files/announcements?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { ...client.headers, 'content-type': type },
    body: new Uint8Array(bytes),
  })
  return { status: response.status, body: (await response.json()) as UploadAnswer['body'] }
}

export async function download(app: App, client: Client, key: string, query = '') {
  const response = await app.fetch(`/api/files/${key}${query}`, { headers: client.headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** A PNG of one colour: its pixels are zeros that deflate to almost nothing. */
export function bomb(width: number, height: number, rows = height): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([1, 0], 8) // one bit per pixel, greyscale
  const bytesARow = Math.min(Math.ceil(width / 8) + 1, 5000)
  const pixels = deflateSync(Buffer.alloc(bytesARow * rows))
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

/** Returns a chunk of a PNG (https://www.w3.org/TR/png-3/#5Chunk-layout). */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(data.length)
  body.copy(out, 4)
  out.writeUInt32BE(crc(body), body.length + 4)
  return out
}

/** Returns this PNG as the first of the two frames of an animated PNG. */
export function animatedPng(first: Buffer): Buffer {
  const numbers = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer).swap32()
  const [width, height] = [first.readUInt32BE(16), first.readUInt32BE(20)]
  const control = (sequence: number): Buffer =>
    chunk('fcTL', Buffer.concat([numbers(sequence, width, height, 0, 0), Buffer.from([0, 1, 0, 10, 0, 0])]))
  const dataAt = first.indexOf('IDAT') - 4
  const dataLength = first.readUInt32BE(dataAt)
  const data = first.subarray(dataAt + 8, dataAt + 8 + dataLength)
  return Buffer.concat([
    first.subarray(0, dataAt),
    chunk('acTL', numbers(2, 0)),
    control(0),
    first.subarray(dataAt, dataAt + 12 + dataLength),
    control(1),
    chunk('fdAT', Buffer.concat([numbers(2), data])),
    first.subarray(dataAt + 12 + dataLength),
  ])
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}

/** An animated GIF whose frames have different colours. */
export async function animation(frames: number, width: number, height: number): Promise<Uint8Array> {
  const pages = await Promise.all(
    Array.from({ length: frames }, (_, n) =>
      sharp({ create: { width, height, channels: 3, background: { r: (n * 80) % 256, g: n, b: 0 } } })
        .png()
        .toBuffer(),
    ),
  )
  return sharp(pages, { join: { animated: true } })
    .gif({ effort: 1 })
    .toBuffer()
}

/** An animated GIF of 1 × 1 pixel, which needs only 25 bytes for each frame. */
export function tinyFrames(frames: number): Uint8Array {
  const screen = [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
  const frame = [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from(screen),
    ...Array<Buffer>(frames).fill(Buffer.from(frame)),
    Buffer.from([0x3b]),
  ])
}

/** What an upload must not become (security.md, Uploads), and what is kept of a permitted image. */
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import sharp from 'sharp'
import { diskStore } from './disk.ts'
import { findProcesses, signal } from '#src/postgres/processes.ts'
import { testApp } from '#test/test-app.ts'
import { animatedPng, animation, bomb, canvas, download, png, tinyFrames, upload } from '#test/test-images.ts'
import { createImages } from './images.ts'

/** Where browsers show the upper left corner of the pixels of a wide image, by the tag's value 1 to 8 (Exif 2.32, Orientation). */
const upright = ['wide, upper left', 'wide, upper right', 'wide, lower right', 'wide, lower left'].concat([
  'high, upper left',
  'high, upper right',
  'high, lower right',
  'high, lower left',
])

/** A wide image with a dark mark in the upper left corner of its pixels. */
async function markedImage(format: 'jpeg' | 'png' | 'webp' | 'animated webp', orientation: number): Promise<Uint8Array> {
  const mark = { input: { create: { width: 40, height: 40, channels: 3, background: '#000' } }, left: 0, top: 0 } as const
  const frame = await canvas(300, 100).composite([mark]).png().toBuffer()
  const isAnimated = format === 'animated webp'
  const image = isAnimated ? sharp([frame, frame], { join: { animated: true } }) : sharp(frame)
  return image
    .toFormat(isAnimated ? 'webp' : format)
    .withMetadata({ orientation })
    .toBuffer()
}

async function markedCorner(bytes: Uint8Array): Promise<string | undefined> {
  const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
  const isDark = (x: number, y: number): boolean => data[(y * info.width + x) * info.channels]! < 60
  const [right, bottom] = [info.width - 3, info.height - 3]
  if (isDark(2, 2)) return 'upper left'
  if (isDark(right, 2)) return 'upper right'
  if (isDark(2, bottom)) return 'lower left'
  return isDark(right, bottom) ? 'lower right' : undefined
}

describe('hostile uploads', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const notAnImage = 'The file must be a PNG, JPEG, WebP or GIF image.'
  const damaged = 'The image is damaged or incomplete.'
  const tooMany = 'The image must have at most 40 megapixels.'
  const tooLong = 'The image must have at most 8192 pixels on a side.'
  const jpeg = () => canvas(2000, 2000).jpeg().toBuffer()
  const cases: [name: string, make: () => Promise<Uint8Array> | Uint8Array, message: string][] = [
    ['an SVG', () => Buffer.from(svg), notAnImage],
    ['an SVG with an XML declaration', () => Buffer.from(`<?xml version="1.0"?>${svg}`), notAnImage],
    ['HTML named .png', () => Buffer.from('<!doctype html><script>alert(1)</script>'), notAnImage],
    ['nothing', () => Buffer.alloc(0), notAnImage],
    ['random bytes', () => Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 251)), notAnImage],
    ['a TIFF', () => canvas().tiff().toBuffer(), notAnImage],
    ['an AVIF', () => canvas().avif().toBuffer(), notAnImage],
    ['a PDF', () => Buffer.from('%PDF-1.7\n%âãÏÓ\n'), notAnImage],
    ['a PNG that ends after its signature', () => png.subarray(0, 8), notAnImage],
    ['a truncated PNG', () => png.subarray(0, png.byteLength - 200), damaged],
    ['a truncated JPEG', async () => (await jpeg()).subarray(0, 9000), damaged],
    ['a PNG with a corrupt body', () => Buffer.concat([png.subarray(0, 60), Buffer.alloc(png.byteLength - 60, 7)]), damaged],
    ['an SVG behind the signature of a PNG', () => Buffer.concat([png.subarray(0, 8), Buffer.from(svg)]), notAnImage],
    ['a bomb of 400 megapixels in 400 kB', () => bomb(20_000, 20_000), tooLong],
    ['a PNG of 1 × 40,000,000 in 77 kB', () => bomb(1, 40_000_000), tooLong],
    ['a PNG of 40,000,000 × 1', () => bomb(40_000_000, 1), tooLong],
    ['an image one pixel too wide', () => bomb(8193, 1), tooLong],
    ['an image one row over 40 megapixels', () => bomb(8000, 5001), tooMany],
    ['a PNG that claims 2^31 columns', () => bomb(2 ** 31 - 1, 2 ** 31 - 1, 1), damaged],
    ['an animation of 41 megapixels in all', async () => animation(41, 1000, 1000), tooMany],
    ['an animation of 1,001 frames', () => tinyFrames(1001), 'The animation must have at most 1000 frames.'],
  ]
  // Short, so that a slower refusal would get the answer for an image that takes too much time.
  const quick = createImages({ cpuMs: 1000 })
  afterAll(() => quick.stop())

  test.each(cases)('%s is refused at once', async (_name, make, message) => {
    const app = await testApp({ images: quick })
    const admin = await app.signUp('admin')
    const answer = await upload(app, admin, await make(), 'innocent.png')
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'INVALID_INPUT', message, error: message } })
    expect(await app.database.db.selectFrom('file_removals').selectAll().execute()).toEqual([])
  })

  test('6 MB are refused while they stream, whatever content-length says; an image of 5 MB is read', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const answer = await upload(app, admin, Buffer.alloc(6 * 1024 * 1024))
    expect(answer).toMatchObject({ status: 413, body: { code: 'TOO_LARGE', message: 'The file must be at most 5 MB.' } })
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    })
    const init = { method: 'POST', headers: { ...admin.headers, 'content-type': 'image/png' }, body: endless, duplex: 'half' }
    expect((await app.fetch('/api/files/announcements', init as RequestInit)).status).toBe(413)
    expect(sent).toBeLessThan(6 * 1024 * 1024)
    const padded = Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024 - png.byteLength)])
    expect((await upload(app, admin, padded)).status).toBe(200)
    expect((await upload(app, admin, Buffer.concat([padded, Buffer.alloc(1)]))).status).toBe(413)
  })

  test.each(['text/html', 'image', 'multipart/form-data; boundary=x', 'application/json'])(
    'a body of type %s is refused',
    async (type) => {
      const app = await testApp()
      expect((await upload(app, await app.signUp('admin'), png, 'a.png', type)).status).toBe(415)
    },
  )

  test('metadata and anything hidden behind the image are not stored; the orientation is applied', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const photo = await canvas(300, 100)
      .withExif({ IFD0: { Copyright: 'secret place' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const { key } = (await upload(app, admin, Buffer.concat([photo, Buffer.from('<script>alert("hidden")</script>')]))).body
    const { bytes } = await download(app, admin, key)
    expect(bytes.includes('secret place')).toBe(false)
    expect(bytes.includes('hidden')).toBe(false)
    const { width, height, exif } = await sharp(bytes).metadata()
    expect({ width, height, exif }).toEqual({ width: 100, height: 300, exif: undefined })
    expect(await sharp((await download(app, admin, key, '?size=thumb')).bytes).metadata()).toMatchObject({
      width: 32,
      height: 96,
    })
  })

  test.each(['jpeg', 'png', 'webp', 'animated webp'] as const)(
    'the EXIF orientation of a %s: image and thumbnail are turned as browsers show the file',
    async (format) => {
      const images = createImages()
      onTestFinished(() => images.stop())
      const shown = []
      for (let orientation = 1; orientation <= 8; orientation += 1) {
        const prepared = await images.prepare(await markedImage(format, orientation))
        const { width, height, orientation: tag } = await sharp(prepared.bytes).metadata()
        expect(tag).toBeUndefined()
        expect(await markedCorner(prepared.thumb)).toBe(await markedCorner(prepared.bytes))
        shown.push(`${width > height ? 'wide' : 'high'}, ${await markedCorner(prepared.bytes)}`)
      }
      expect(shown).toEqual(format.endsWith('webp') ? Array.from(upright, () => upright[0]) : upright)
    },
  )

  test('an animated PNG is stored as its first frame', async () => {
    const images = createImages()
    onTestFinished(() => images.stop())
    const { extension, bytes, thumb } = await images.prepare(animatedPng(png))
    expect(extension).toBe('png')
    expect(Buffer.from(bytes).includes('acTL')).toBe(false)
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 300, height: 200 })
    expect(await sharp(thumb).metadata()).toMatchObject({ format: 'webp', width: 96, height: 64 })
  })

  test('an animated GIF keeps its frames; its thumbnail does not move', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { key } = (await upload(app, admin, await animation(3, 120, 60))).body
    expect(await sharp((await download(app, admin, key)).bytes, { animated: true }).metadata()).toMatchObject({
      format: 'gif',
      pages: 3,
      width: 120,
    })
    const thumb = await sharp((await download(app, admin, key, '?size=thumb')).bytes, { animated: true }).metadata()
    expect(thumb).toMatchObject({ width: 96, height: 48 })
    expect(thumb.pages ?? 1).toBe(1)
  })

  test('a refused upload leaves nothing in the store, and a stored one has no other parts', async () => {
    const root = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-files-'))
    const app = await testApp({ fileStore: diskStore(root) })
    const admin = await app.signUp('admin')
    await upload(app, admin, Buffer.from(svg))
    const { key } = (await upload(app, admin, png)).body
    const name = key.slice('announcements/'.length)
    expect((await readdir(root, { recursive: true })).toSorted()).toEqual([
      'announcements',
      'announcements-thumbs',
      `announcements-thumbs/${name}.webp`,
      key,
    ])
    await rm(root, { recursive: true })
  })
})

describe('the decoder process', () => {
  const large = () => bomb(8000, 5000)
  const ofTest = (limits: Parameters<typeof createImages>[0]) => {
    const images = createImages(limits)
    onTestFinished(() => images.stop())
    return images
  }
  /** Kills each decoder when it starts, before it can get an image. Node tells of each new process in the channel `child_process`. */
  const killingNewDecoders = () => {
    let killed = 0
    const kill = (message: unknown): void => {
      const { process: child } = message as { process: ChildProcess }
      child.once('spawn', () => {
        if (child.spawnargs.some((argument) => argument.includes('image-decoder'))) killed += Number(child.kill('SIGKILL'))
      })
    }
    const stop = (): void => void unsubscribe('child_process', kill)
    subscribe('child_process', kill)
    onTestFinished(stop)
    return { killed: () => killed, stop }
  }
  const decoders = () => findProcesses(({ parent, command }) => parent === process.pid && command.includes('image-decoder'))

  test.each([
    ['time', { cpuMs: 300 }],
    ['memory', { memoryBytes: 200_000_000 }],
  ])('security: an image that takes too much %s is refused, and the next one is decoded', async (_what, limits) => {
    const app = await testApp({ images: ofTest(limits) })
    const admin = await app.signUp('admin')
    const bytes = await canvas(6000, 6000).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const [costly, next] = await Promise.all([upload(app, admin, bytes), upload(app, admin, png)])
    expect(costly).toMatchObject({ status: 400, body: { message: 'The image takes too much time or memory to decode.' } })
    expect(next.status).toBe(200)
    expect((await upload(app, admin, png)).status).toBe(200)
  })

  test('security: a decoder that hangs is killed', async () => {
    const others = new Set((await decoders()).map(({ pid }) => pid))
    const images = ofTest({ wallMs: 1 })
    await expect(images.prepare(png)).rejects.toThrow('The image cannot be decoded.')
    await expect.poll(async () => (await decoders()).filter(({ pid }) => !others.has(pid))).toEqual([])
  })

  test('security: a killed decoder is replaced; if it is killed repeatedly, the upload gets 503 and later ones work', async () => {
    const images = ofTest({})
    const app = await testApp({ images })
    const admin = await app.signUp('admin')
    expect((await upload(app, admin, png)).status).toBe(200)
    for (const { pid } of await decoders()) signal(pid, 'SIGKILL')
    expect((await upload(app, admin, png)).status).toBe(200)

    const killNew = killingNewDecoders()
    for (const { pid } of await decoders()) signal(pid, 'SIGKILL')
    expect(await upload(app, admin, large())).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', retryAfterSeconds: 5 } })
    expect(killNew.killed()).toBeGreaterThan(0)
    killNew.stop()
    expect((await upload(app, admin, png)).status).toBe(200)
  })

  test('security: the number of waiting images is limited; more get 503 with Retry-After until there is room again', async () => {
    const app = await testApp({ images: ofTest({ atOnce: 0 }) })
    const answer = await app.fetch('/api/files/announcements', {
      method: 'POST',
      headers: { ...(await app.signUp('admin')).headers, 'content-type': 'image/png' },
      body: new Uint8Array(png),
    })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await answer.json()).toMatchObject({ message: 'Too many images are being uploaded. Please try again in a moment.' })

    const images = ofTest({ atOnce: 2 })
    const outcomes = await Promise.allSettled([png, png, png].map((bytes) => images.prepare(bytes)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect((await images.prepare(png)).extension).toBe('png')
  })
})

/** Files of announcements (§2, §7; security.md, Uploads), on disk and on S3: what is accepted, how it is served, when it is removed. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import sharp from 'sharp'
import { diskStore, type FileStore } from '#src/files/disk.ts'
import { thumbKey } from '#src/files/files.ts'
import { s3Store } from '#src/files/s3.ts'
import { StartError } from '#src/postgres/errors.ts'
import { type S3Server, startReadOnly, startS3Server } from '#test/s3-server.ts'
import { testApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { canvas, download, png, upload } from '#test/test-images.ts'

const desc = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 1 }

let s3: S3Server
let folder: string
beforeAll(async () => {
  s3 = await startS3Server()
  folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-files-'))
})
afterAll(async () => {
  await s3.stop()
  await rm(folder, { recursive: true, force: true })
})

const stores: { name: string; open: () => FileStore }[] = [
  { name: 'disk', open: () => diskStore(folder) },
  { name: 'S3', open: () => s3Store(s3.url) },
]

describe.each(stores)('files on $name', ({ open }) => {
  const opening = async () => {
    const store = open()
    const app = await testApp({ fileStore: store })
    return { app, store, admin: await app.signUp('admin') }
  }
  const isGone = async (store: FileStore, key: string): Promise<void> => {
    await expect.poll(() => store.has(key)).toBe(false)
  }

  test('§6 only admins upload, only admins and bots read', async () => {
    const { app, admin } = await opening()
    const user = await app.signUp('user')
    const bot = await app.bot()
    expect((await upload(app, app.guest, png)).status).toBe(401)
    expect((await upload(app, user, png)).status).toBe(403)
    expect((await upload(app, bot, png)).status).toBe(403)
    const { key } = (await upload(app, admin, png)).body
    expect((await download(app, app.guest, key)).status).toBe(401)
    expect((await download(app, user, key)).status).toBe(403)
    expect((await download(app, bot, key)).status).toBe(200)
  })

  test.each([
    ['PNG', () => canvas().png(), 'png', 'image/png'],
    ['JPEG', () => canvas().jpeg(), 'jpg', 'image/jpeg'],
    ['WebP', () => canvas().webp(), 'webp', 'image/webp'],
    ['GIF', () => canvas().gif(), 'gif', 'image/gif'],
  ])(
    '§7 a %s is recognised by its content, stored whatever its name and declared type, and served safely',
    async (_name, make, extension, type) => {
      const { app, admin } = await opening()
      const { body, status } = await upload(app, admin, await make().toBuffer(), 'Mein Bild.HTML', 'application/octet-stream')
      expect(status).toBe(200)
      expect(body.key).toMatch(new RegExp(`^announcements/\\d{13}_Mein_Bild\\.${extension}$`))
      expect(body.name).toBe('Mein Bild.HTML')
      const served = await download(app, admin, body.key)
      expect(served.status).toBe(200)
      expect(Object.fromEntries(served.headers)).toMatchObject({
        'content-type': type,
        'content-length': String(served.bytes.byteLength),
        'content-disposition': `inline; filename="Mein_Bild.${extension}"`,
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff',
      })
      expect(await sharp(served.bytes).metadata()).toMatchObject({ width: 300, height: 200 })
    },
  )

  test('security: a browser revalidates its cached file, and loses it with the session or the file', async () => {
    const { app, store, admin } = await opening()
    const { key } = (await upload(app, admin, png)).body
    const again = async (etag: string, query = '', headers = admin.headers) => {
      const response = await app.fetch(`/api/files/${key}${query}`, { headers: { ...headers, 'if-none-match': etag } })
      return { status: response.status, length: (await response.arrayBuffer()).byteLength, headers: response.headers }
    }
    const [whole, thumb] = [await download(app, admin, key), await download(app, admin, key, '?size=thumb')]
    const [etag, thumbEtag] = [whole.headers.get('etag')!, thumb.headers.get('etag')!]
    expect(thumbEtag).not.toBe(etag)
    expect(thumb.headers.get('content-disposition')).toBe('inline; filename="banner.png.webp"')
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const { status, length, headers } = await again(known)
      expect({ status, length }).toEqual({ status: 304, length: 0 })
      expect(headers.get('cache-control')).toBe('private, no-cache')
      expect(headers.get('etag')).toBe(etag)
    }
    expect((await again(thumbEtag, '?size=thumb')).status).toBe(304)
    expect((await again(thumbEtag)).status).toBe(200)
    expect((await again(etag, '', {})).status).toBe(401)
    await store.remove(key)
    expect((await again(etag)).status).toBe(404)
  })

  test('security: a file in the store whose extension is not ours is downloaded and not shown', async () => {
    const { app, store, admin } = await opening()
    const key = 'announcements/1700000000000_page.html'
    await store.put(key, Buffer.from('<script>alert(1)</script>'), 'text/html')
    const served = await download(app, admin, key)
    expect(served.headers.get('content-type')).toBe('application/octet-stream')
    expect(served.headers.get('content-disposition')).toBe('attachment; filename="page.html"')
    await store.remove(key)
  })

  test('§2 the thumbnail is a small WebP', async () => {
    const { app, admin } = await opening()
    const noise = await sharp({
      create: { width: 800, height: 400, channels: 3, background: 'black', noise: { type: 'gaussian', mean: 128, sigma: 50 } },
    })
      .png()
      .toBuffer()
    const { key } = (await upload(app, admin, noise)).body
    const thumb = await download(app, admin, key, '?size=thumb')
    expect(thumb.headers.get('content-type')).toBe('image/webp')
    expect(await sharp(thumb.bytes).metadata()).toMatchObject({ format: 'webp', width: 96, height: 48 })
    expect(thumb.bytes.byteLength).toBeLessThan(10_000)
  })

  test('an announcement keeps its files; replaced, cleared and deleted files are no longer served', async () => {
    const { app, store, admin } = await opening()
    const keys = await Promise.all(
      ['a.png', 'b.png', 'c.png'].map(async (name) => (await upload(app, admin, png, name)).body.key),
    )
    const [image = '', icon = '', next = ''] = keys
    const { id } = (
      await admin.call('POST', '/api/announcements', { ...desc, image, imageName: 'a.png', icon, iconName: 'b.png' })
    ).body
    const saved = async () => (await admin.call('GET', `/api/announcements/${id}`)).body
    expect(await saved()).toMatchObject({ image, imageName: 'a.png', icon, iconName: 'b.png' })

    // Image and icon may be swapped; the same files stay.
    expect(
      (
        await admin.call('PUT', `/api/announcements/${id}`, {
          ...desc,
          image: icon,
          imageName: 'b.png',
          icon: image,
          iconName: 'a.png',
        })
      ).status,
    ).toBe(200)
    await sql`update file_removals set requested_at = now() - interval '1 second' where key <> ${next}`.execute(app.database.db)
    await app.files.sweep()
    for (const key of keys) expect((await download(app, admin, key)).status).toBe(200)

    expect(
      (await admin.call('PUT', `/api/announcements/${id}`, { ...desc, image: next, imageName: 'c.png', icon: null })).status,
    ).toBe(200)
    expect(await saved()).toMatchObject({ image: next, imageName: 'c.png', icon: null, iconName: null })
    for (const key of [image, icon]) {
      expect((await download(app, admin, key)).status).toBe(404)
      expect((await download(app, admin, key, '?size=thumb')).status).toBe(404)
      expect(await store.has(key)).toBe(true)
    }
    expect((await download(app, admin, next)).status).toBe(200)

    await admin.call('DELETE', `/api/announcements/${id}`)
    expect((await download(app, admin, next)).status).toBe(404)
    await app.files.sweep()
    expect(await store.has(next)).toBe(true)
    await sql`update file_removals set requested_at = now()`.execute(app.database.db)
    await app.files.sweep()
    for (const key of keys) await isGone(store, key)
    await expect.poll(() => app.database.db.selectFrom('file_removals').selectAll().execute()).toEqual([])
  })

  test('no row without its file: a key that is missing, swept or used by another row is refused', async () => {
    const { app, store, admin } = await opening()
    const save = (changes: object) => admin.call('POST', '/api/announcements', { ...desc, ...changes })
    const { key } = (await upload(app, admin, png)).body
    expect((await save({ image: key, icon: key })).body.fields).toEqual({ icon: 'The image and the icon must be two uploads.' })
    expect((await save({ image: key })).status).toBe(200)
    const refused = {
      status: 400,
      body: {
        success: false,
        error: 'This file was uploaded too long ago, or another announcement has it. Please choose it again.',
      },
    }
    expect(await save({ image: key })).toMatchObject(refused)
    expect(await save({ icon: 'announcements/1700000000000_never.png' })).toMatchObject({
      ...refused,
      body: { fields: { icon: refused.body.error } },
    })
    const lost = (await upload(app, admin, png)).body.key
    await store.remove(lost)
    expect(await save({ image: lost })).toMatchObject(refused)
    expect((await admin.call('GET', '/api/announcements')).body.total).toBe(1)
  })

  test('an unused upload is removed after an hour; if a save and a sweep race, one wins, and row and file agree', async () => {
    const { app, store, admin } = await opening()
    const { key: orphan } = (await upload(app, admin, png)).body
    await app.files.sweep()
    expect(await store.has(orphan)).toBe(true)
    await sql`update file_removals set requested_at = requested_at - interval '1 hour 1 second'`.execute(app.database.db)
    await app.files.sweep()
    expect(await store.has(orphan)).toBe(false)

    for (let n = 0; n < 5; n += 1) {
      const { key } = (await upload(app, admin, png)).body
      await sql`update file_removals set requested_at = now() - interval '1 second' where key = ${key}`.execute(app.database.db)
      const [answer] = await Promise.all([
        admin.call('POST', '/api/announcements', { ...desc, image: key }),
        app.files.sweep(),
        app.files.sweep(),
      ])
      expect(await store.has(key)).toBe(answer.status === 200)
      expect([200, 400]).toContain(answer.status)
    }
  })

  test('when several servers sweep at once, each file is removed by one of them', async () => {
    const store = open()
    const removed: string[] = []
    const noting: FileStore = {
      ...store,
      remove(key) {
        removed.push(key)
        return store.remove(key)
      },
    }
    const app = await testApp({ fileStore: noting })
    const other = await testApp({ fileStore: noting, database: await openAgain() })
    const admin = await app.signUp('admin')
    const keys: string[] = []
    for (let n = 0; n < 6; n += 1) keys.push((await upload(app, admin, png)).body.key)
    await sql`update file_removals set requested_at = now() - interval '1 second'`.execute(app.database.db)
    await Promise.all([app, other, app, other].map(({ files }) => files.sweep()))
    expect(removed.toSorted()).toEqual(keys.flatMap((key) => [key, thumbKey(key)]).toSorted())
    expect(await Promise.all(keys.map((key) => store.has(key)))).toEqual(keys.map(() => false))
  })

  test('a failed removal does not fail the request and is tried again', async () => {
    const store = open()
    let isBroken = true
    const breaking: FileStore = {
      ...store,
      remove: (key) => (isBroken ? Promise.reject(new Error('the store is down')) : store.remove(key)),
    }
    const app = await testApp({ fileStore: breaking })
    const admin = await app.signUp('admin')
    const { key } = (await upload(app, admin, png)).body
    const { id } = (await admin.call('POST', '/api/announcements', { ...desc, image: key })).body
    expect((await admin.call('DELETE', `/api/announcements/${id}`)).status).toBe(200)
    await sql`update file_removals set requested_at = now()`.execute(app.database.db)
    await app.files.sweep()
    isBroken = false
    expect(await store.has(key)).toBe(true)
    const isThereAfterSweeping = async () => {
      await sql`update file_removals set requested_at = now()`.execute(app.database.db)
      await app.files.sweep()
      return store.has(key)
    }
    await expect.poll(isThereAfterSweeping).toBe(false)
  })

  test('security: no transaction is open while the store is called, because it may be slow', async () => {
    const asked: string[] = []
    const within: string[] = []
    const watched = Object.fromEntries(
      Object.entries(open()).map(([name, method]: [string, (...args: unknown[]) => unknown]) => [
        name,
        async (...args: unknown[]) => {
          asked.push(name)
          const { rows } = await sql<{ pid: number }>`
            select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`.execute(
            app.database.db,
          )
          if (rows.length > 0) within.push(name)
          return method(...args)
        },
      ]),
    ) as unknown as FileStore
    const app = await testApp({ fileStore: watched })
    const admin = await app.signUp('admin')
    // One after the other: each ends with a transaction, in which another one might call the store.
    const keys: string[] = []
    for (const name of ['a', 'b', 'c']) keys.push((await upload(app, admin, png, name)).body.key)
    const [image, icon, next] = keys
    const { id } = (await admin.call('POST', '/api/announcements', { ...desc, image, imageName: 'a' })).body
    const changes = { image: next, imageName: 'c', icon, iconName: 'b' }
    expect((await admin.call('PUT', `/api/announcements/${id}`, { ...desc, ...changes })).status).toBe(200)
    expect((await admin.call('DELETE', `/api/announcements/${id}`)).status).toBe(200)
    expect((await admin.call('POST', '/api/trash/purge', { target: { filter: {} } })).status).toBe(200)
    await sql`update file_removals set requested_at = now()`.execute(app.database.db)
    await app.files.sweep()
    await expect.poll(() => app.database.db.selectFrom('file_removals').selectAll().execute()).toEqual([])
    expect(asked.toSorted().filter((name, index, all) => name !== all[index - 1])).toEqual(['has', 'put', 'remove'])
    expect(within).toEqual([])
  })

  test('two uploads with the same name in the same millisecond are two files', async () => {
    const { app, admin } = await opening()
    const again = await testApp({ fileStore: open() }) // as another process would
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => upload(n % 2 ? again : app, admin, png, 'same.png')))
    expect(new Set(answers.map(({ body }) => body.key)).size).toBe(12)
  })

  test.each([
    ['../../../etc/passwd', 'passwd', 'passwd'],
    ['..\\..\\windows\\win.ini', 'win', 'win.ini'],
    ['....png', 'image', '....png'],
    ['.png', 'image', '.png'],
    ['', 'image', 'image'],
    ['Åse — 李 😀.png', 'Ase', 'Åse — 李 😀.png'],
    ['李.png', 'image', '李.png'],
    ['a\u202Egnp.exe', 'a_gnp', 'agnp.exe'],
    ['\u200B\u3164', 'image', 'image'],
    ['\u2800.png', 'image', '.png'],
    ['\u2800', 'image', 'image'],
    ['\u2069ba\u2028nner\u0007.png\uFEFF', 'ba_nner', 'banner.png'],
    [`${'long'.repeat(200)}.png`, 'long'.repeat(20), 'long'.repeat(64).slice(0, 255)],
    ['a?b#c%2f..%2fd.png', '2fd', '2fd.png'],
    ['x.php.png', 'x.php', 'x.php.png'],
    [`${'x'.repeat(79)}.y.png`, 'x'.repeat(79), `${'x'.repeat(79)}.y.png`],
    ['<img src=x onerror=alert(1)>.png', 'img_src_x_onerror_alert_1', '<img src=x onerror=alert(1)>.png'],
  ])('§7 the name %j becomes a key within the store', async (name, inKey, shown) => {
    const { app, admin } = await opening()
    const { status, body } = await upload(app, admin, png, name === 'a?b#c%2f..%2fd.png' ? 'a?b#c/../2fd.png' : name)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.key).toMatch(/^announcements\/\d{13}_[A-Za-z0-9._-]+$/)
    expect(body.key.replace(/^announcements\/\d+_/, '')).toBe(`${inKey}.png`)
    expect(body.name).toBe(shown)
    expect((await download(app, admin, body.key)).status).toBe(200)
  })

  test.each([
    '..%2F..%2Fpostgres%2FPG_VERSION',
    '%2e%2e',
    '..',
    '.hidden',
    'none.png',
    'a%00b',
    'a%2fb',
    'C:%5Cx',
    '1700000000000_x.png.part',
  ])('GET /api/files/announcements/%s reaches nothing', async (name) => {
    const { app, admin } = await opening()
    expect([400, 404]).toContain((await download(app, admin, `announcements/${name}`)).status)
  })
})

describe('the store is away', () => {
  test('security: a store that claims to have every key fails an upload instead of making it wait for ever', async () => {
    const app = await testApp({ fileStore: { ...diskStore(folder), has: async () => true } })
    const admin = await app.signUp('admin')
    expect(await upload(app, admin, png)).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } })
  })

  test('design §8 a start with a bucket that does not exist is refused with one sentence', async () => {
    await s3Store(s3.url).check()
    const message = 'FILES_URL names the bucket nowhere, which does not exist: create it, or name another one.'
    await expect(s3Store(s3.url.replace(/^s3:..[^?/]*/, 's3://nowhere')).check()).rejects.toThrow(new StartError(message))
  })

  test('a start with a read-only store is refused, and such a store makes a running server not ready', async () => {
    const readOnly = await startReadOnly(s3)
    try {
      await expect(s3Store(readOnly.url).check()).rejects.toThrow(
        /^FILES_URL names the bucket arcade, which refuses to store files/,
      )
      const app = await testApp({ fileStore: s3Store(readOnly.url) })
      expect((await app.guest.call('GET', '/readyz')).status).toBe(503)
      const admin = await app.signUp('admin')
      expect((await download(app, admin, 'announcements/1700000000000_x.png')).status).toBe(404)
    } finally {
      await readOnly.stop()
    }
  })

  test('security: calls get 503 with the reason, and no page hangs or breaks', async () => {
    const away = s3Store('s3://arcade?endpoint=http://127.0.0.1:1')
    const app = await testApp({ fileStore: away })
    const admin = await app.signUp('admin')
    const message = 'The file store is not available right now. Please try again in a moment.'
    expect(await upload(app, admin, png)).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', message } })
    expect((await download(app, admin, 'announcements/1700000000000_x.png')).status).toBe(503)
    expect((await admin.call('GET', '/api/announcements')).status).toBe(200)
  })
})

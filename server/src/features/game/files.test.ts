/** Images of announcements as the game sees them (design §8). */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { canvas } from '#test/test-images.ts'

async function upload(app: TestApp, { headers }: Client, name: string): Promise<string> {
  const body = new Uint8Array(await canvas(40, 20).png().toBuffer())
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'image/png' }, body }
  const answer = await app.fetch(`/api/files/announcements?name=${name}.png`, init)
  return ((await answer.json()) as { key: string }).key
}

test('§8 a player’s client gets the images of active announcements and no other files', async () => {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  const keys = await Promise.all(['image', 'icon', 'other', 'loose'].map((name) => upload(app, admin, name)))
  const [image, icon, other, loose] = keys
  const text = { type: 'desc', title: 'A', subtitle: 'S', description: 'B', reward: 1 }
  const { id } = (await admin.call('POST', '/api/announcements', { ...text, image, icon })).body
  await admin.call('POST', '/api/announcements', { ...text, image: other })
  const ask = (key: string | undefined, client: Client) => app.fetch(`/bot/v1/files/${key}`, { headers: client.headers })
  const player = app.player(7)
  expect((await ask(image, player)).status, 'not active yet').toBe(404)
  await admin.call('POST', `/api/announcements/${id}/status`, { status: false })
  for (const client of [player, bot])
    for (const key of [image, icon]) {
      const answer = await ask(key, client)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(
        Buffer.from(await answer.arrayBuffer())
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG')
    }
  const thumb = await app.fetch(`/bot/v1/files/${image}?size=thumb`, { headers: player.headers })
  expect([thumb.status, thumb.headers.get('content-type')]).toEqual([200, 'image/webp'])
  await sql`update announcements set ends_at = now() where id = ${id}`.execute(app.database.db)
  expect((await ask(image, player)).status, 'over by now').toBe(404)
  for (const key of [other, loose, 'announcements/..%2f..%2fsecret-key']) expect((await ask(key, player)).status).toBe(404)
  expect((await ask(image, admin)).status, 'users of the console have another path').toBe(403)
})

test('segments: security: the images of an announcement for a segment are there for its players, the bot and operators, and 404 for other players', async () => {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  await bot.call('PUT', '/bot/v1/players/7', { firstName: 'Ada', email: 'ada@example.org' })
  await bot.call('PUT', '/bot/v1/players/8', { firstName: 'Bob' })
  const { id: segmentId } = (await admin.call('POST', '/api/views', SEGMENT)).body
  const [image, icon] = [await upload(app, admin, 'image'), await upload(app, admin, 'icon')]
  const text = { type: 'desc', title: 'A', subtitle: 'S', description: 'B', reward: 1 }
  const { id } = (await admin.call('POST', '/api/announcements', { ...text, image, icon, segmentId })).body
  expect((await admin.call('POST', `/api/announcements/${id}/status`, { status: false })).status).toBe(200)
  const ask = async ({ headers }: Client, key: string, more: Record<string, string> = {}) =>
    (await app.fetch(`/bot/v1/files/${key}`, { headers: { ...headers, ...more } })).status
  const [member, outsider, unknown] = [app.player(7), app.player(8), app.player(9)]
  for (const key of [image, icon]) {
    expect([await ask(member, key), await ask(bot, key)]).toEqual([200, 200])
    expect((await app.fetch(`/api/files/${key}`, { headers: admin.headers })).status).toBe(200)
    for (const size of ['', '?size=thumb'])
      expect([await ask(outsider, key + size), await ask(unknown, key + size)]).toEqual([404, 404])
  }
  // Not even that a copy from before is still right.
  const etag = (await app.fetch(`/bot/v1/files/${image}`, { headers: member.headers })).headers.get('etag')!
  expect(await ask(member, image, { 'if-none-match': etag })).toBe(304)
  expect(await ask(outsider, image, { 'if-none-match': etag })).toBe(404)
  const [refused, missing] = await Promise.all(
    [image, 'announcements/1_none.png'].map((key) => outsider.call('GET', `/bot/v1/files/${key}`)),
  )
  expect({ ...refused!.body, requestId: '' }).toEqual({ ...missing!.body, requestId: '' })
  await bot.call('PUT', '/bot/v1/players/8', { email: 'bob@example.org' })
  expect(await ask(outsider, image)).toBe(200)
})

const SEGMENT = { list: 'telegramUsers', name: 'With e-mail', address: 'has=email', isShared: true }

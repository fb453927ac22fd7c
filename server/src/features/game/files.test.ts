/** Images of announcements as the game sees them (design §8). */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Client, testApp } from '#test/test-app.ts'
import { canvas } from '#test/test-images.ts'

test('§8 a player’s client gets the images of active announcements and no other files', async () => {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  const png = await canvas(40, 20).png().toBuffer()
  const keys = await Promise.all(
    ['image', 'icon', 'other', 'loose'].map(async (name): Promise<string> => {
      const headers = { ...admin.headers, 'content-type': 'image/png' }
      const upload = { method: 'POST', headers, body: new Uint8Array(png) }
      const answer = await app.fetch(`/api/files/announcements?name=${name}.png`, upload)
      return ((await answer.json()) as { key: string }).key
    }),
  )
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

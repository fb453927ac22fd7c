/** An open page while the server that it is connected to is killed and another one takes over. */
import { addActivity } from '../../server/test/activity.ts'
import { startHttpProxy } from '../../server/test/http-proxy.ts'
import { expect, test } from '#src/test.ts'

test.describe('Several servers', () => {
  test.use({ expectedNoise: { patterns: [/ERR_INCOMPLETE_CHUNKED_ENCODING|Failed to load resource/] } })

  test('Several servers: when any of them is killed, an open dashboard is live again by itself', async ({
    page,
    server,
    signIn,
  }) => {
    const proxy = await startHttpProxy()
    const servers = [await server.startAnother(), await server.startAnother()]
    try {
      for (const { url } of servers) proxy.replace(undefined, url)
      await expect.poll(() => proxy.ready()).toBe(2)
      await signIn('admin')
      await page.goto(`${proxy.url}/`)
      let loads = 0
      page.on('load', () => loads++)
      const { id: itemId } = await server.database.db
        .selectFrom('tasks')
        .select('id')
        .where('title', '=', 'Spin the wheel')
        .executeTakeFirstOrThrow()
      // The dashboard's stream comes from one of the two servers. Both are killed in turn, so this includes that one.
      for (const players of ['1,208', '1,213']) {
        await expect(page.getByText('Live', { exact: true })).toBeVisible()
        const victim = servers.shift()!
        await victim.kill()
        await addActivity(server.database, 5, { kind: 'daily', itemId, at: new Date() })
        await expect(page.getByRole('region', { name: 'Telegram Users', exact: true })).toContainText(players)
        servers.push(await server.startAnother())
        proxy.replace(victim.url, servers.at(-1)!.url)
        await expect.poll(() => proxy.ready()).toBe(2)
      }
      await expect(page.getByText('Live', { exact: true })).toBeVisible()
      expect(loads).toBe(0)
    } finally {
      await proxy.stop()
      for (const left of servers) await left.kill()
    }
  })
})

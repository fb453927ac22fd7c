/** Broadcasts together with the reference game: the console sends through the stand-in for Telegram, and the bot answers (design §8). */
import type { Locator, Page } from '@playwright/test'
import { startConsoleServer } from '../../server/test/console-server.ts'
import { type ReferenceGame, type StandIn, startReferenceGame, startStandIn, TELEGRAM_BOT_TOKEN } from '#src/reference-game.ts'
import { expect, test as base, type WorkerFixtures } from '#src/test.ts'

const test = base.extend<{ game: ReferenceGame }, Pick<WorkerFixtures, 'server'> & { standIn: StandIn }>({
  standIn: [
    async ({ browserName: _browser }, use) => {
      const standIn = await startStandIn()
      await use(standIn)
      await standIn.stop()
      expect(standIn.errorLines).toEqual([])
    },
    { scope: 'worker' },
  ],
  server: [
    async ({ sampleDirectory, standIn }, use) => {
      const env = { TELEGRAM_BOT_TOKEN, TELEGRAM_API_ROOT: standIn.address }
      const server = await startConsoleServer(env, { sample: sampleDirectory })
      await use(server)
      await server.stop()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  game: async ({ page, server, standIn, signIn }, use) => {
    const { token } = await signIn('admin')
    await fetch(`${standIn.address}/chats`, { method: 'DELETE' })
    const game = await startReferenceGame(server, { session: token, standIn })
    await use(game)
    await page.goto('about:blank') // closes the player's page, which would go on polling for messages
    await game.stop()
    expect(game.errorLines).toEqual([])
  },
})

const ADA = 7_100_001

/** Starts the bot as Ada. */
async function openChat(page: Page, { playerPage }: ReferenceGame) {
  await page.goto(playerPage)
  await page.getByRole('button', { name: 'Start' }).click()
  const chat: Locator = page.getByRole('list', { name: 'Chat' }).getByRole('listitem')
  await expect(chat.filter({ hasText: 'Hello Ada! ' })).toBeVisible()
  const say = async (text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  return { chat, say }
}

test('design §8 an operator links a Telegram account by a code, which the page shows by itself, and unlinks it', async ({
  page,
  context,
  game,
  server,
}) => {
  const account = await context.newPage()
  await account.goto(`${server.url}/account`)
  const panel = account.getByRole('region', { name: 'Telegram' })
  await panel.getByRole('button', { name: 'Link Telegram' }).click()
  const command = await panel.getByLabel('Send this to the game’s bot').inputValue()
  expect(command).toMatch(/^\/link [0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/)

  const { chat, say } = await openChat(page, game)
  await say('/link 0000-0000-0000')
  await expect(chat.last()).toContainText('This code has expired or was used already.')
  await say('/link')
  await expect(chat.last()).toContainText('Send /link with the code that the console shows under Your Account.')
  await say(command.toLowerCase())
  await expect(chat.filter({ hasText: 'Linked with Ada Admin at the console.' })).toBeVisible()

  await expect(panel).toContainText(`Ada Byron (${ADA}), linked`)
  await expect(panel.getByLabel('Send this to the game’s bot')).toHaveCount(0)
  await panel.getByRole('button', { name: 'Unlink' }).click()
  await account.getByRole('alertdialog').getByRole('button', { name: 'Unlink Telegram' }).click()
  await expect(panel.getByRole('button', { name: 'Link Telegram' })).toBeVisible()
  await expect(panel).not.toContainText('Ada Byron')
})

test('design §8 an announcement is broadcast to a segment, claimed in the Mini App, and the report counts it; then the player stops messages', async ({
  page,
  context,
  game,
  server,
}) => {
  const call = async <T>(method: 'get' | 'post', path: string, data?: object): Promise<T> => {
    const options = { headers: { origin: server.url }, ...(data && { data }) }
    const answer = await context.request[method](server.url + path, options)
    expect(answer.status(), `${path}: ${await answer.text()}`).toBe(200)
    return (await answer.json()) as T
  }
  const { chat } = await openChat(page, game)
  const text = { type: 'desc', title: 'Gift of the spring', subtitle: 'This weekend', description: 'Play twice', reward: 70 }
  const { id: announcementId } = await call<{ id: string }>('post', '/api/announcements', text)
  await call('post', `/api/announcements/${announcementId}/status`, { status: false })
  const audience = { announcementId, filter: { search: 'ada_plays' } }
  const send = async (): Promise<string> => {
    const { id } = await call<{ id: string }>('post', '/api/broadcasts', audience)
    const state = async () => (await call<{ state: string }>('get', `/api/broadcasts/${id}`)).state
    await expect.poll(state, { timeout: 60_000 }).toBe('done')
    return id
  }
  const id = await send()
  expect(await call('get', `/api/broadcasts/${id}`)).toMatchObject({ total: 1, sent: 1, unknown: 0 })
  const message = chat.filter({ hasText: 'Gift of the spring' })
  await expect(message).toContainText('This weekend')

  await page.getByRole('button', { name: 'Play', exact: true }).click()
  const app = page.frameLocator('iframe[title="Mini App"]')
  await app.getByRole('button', { name: 'Earn' }).click()
  await app.getByRole('listitem').filter({ hasText: 'Gift of the spring' }).getByRole('button', { name: 'Claim' }).click()
  await expect(app.getByLabel('Balance')).toHaveText('70')
  const report = { reached: 1, seen: 1, claimed: 1, cost: 70, control: null }
  await expect.poll(() => call('get', `/api/broadcasts/${id}/report`)).toMatchObject(report)

  await page.getByRole('button', { name: '‹ Close' }).click()
  await message.getByRole('button', { name: 'Stop messages' }).click()
  const stopped = chat.filter({ hasText: 'You get no more messages about news.' })
  await expect(stopped).toBeVisible()
  expect(await call('get', `/api/broadcasts/${await send()}`)).toMatchObject({
    total: 1,
    sent: 0,
    skipped: 1,
    skippedFor: { optedOut: 1 },
  })
  await stopped.getByRole('button', { name: 'Send them again' }).click()
  await expect(chat.filter({ hasText: 'You get messages about news again.' })).toBeVisible()
  expect(await call('get', `/api/broadcasts/${await send()}`)).toMatchObject({ sent: 1, skipped: 0 })
  await expect(message).toHaveCount(2)
})

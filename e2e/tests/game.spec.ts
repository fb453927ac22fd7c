/** The reference game (examples/game) and its player's page, together with the console that the operator sees (design §8). */
import type { BrowserContext, FrameLocator, Locator, Page } from '@playwright/test'
import { startConsoleServer } from '../../server/test/console-server.ts'
import { banner } from '#src/announcements.ts'
import { type BotOptions, type Fault, type ReferenceGame, startReferenceGame, TELEGRAM_BOT_TOKEN } from '#src/reference-game.ts'
import { expect, test as base, type WorkerFixtures } from '#src/test.ts'

const test = base.extend<{ game: ReferenceGame; bot: BotOptions }, Pick<WorkerFixtures, 'server'>>({
  server: [
    async ({ sampleDirectory }, use) => {
      const server = await startConsoleServer({ TELEGRAM_BOT_TOKEN }, { sample: sampleDirectory })
      await use(server)
      await server.stop()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  bot: [{}, { option: true }],
  // Signs the operator in in the page's browser; the operator creates the bot token.
  game: async ({ page, server, signIn, bot }, use) => {
    const { token } = await signIn('admin')
    const game = await startReferenceGame(server, { session: token, ...bot })
    await use(game)
    await page.goto('about:blank') // closes the player's page, which would go on polling for messages
    await game.stop()
    expect(game.errorLines.filter((line) => !/^(Telegram’s \w+ failed:|The bot) /.test(line))).toEqual([]) // no stack traces
  },
})

const ADA = 7_100_001
/** Timeout for changes that must show by themselves, in ms: far longer than they take. */
const SHOWN_WITHIN_MS = 60_000
/** Timeout for the bot's retries, in ms. The bot gives a hanging call up after 3 s and tries again 3 s later. */
const RETRIED_WITHIN_MS = 60_000

/** Starts the bot as a player and opens the Mini App. */
async function openMiniApp(page: Page, { playerPage }: ReferenceGame): Promise<FrameLocator> {
  await page.goto(playerPage)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  const app = page.frameLocator('iframe[title="Mini App"]')
  await expect(app.getByLabel('Balance')).toHaveText('0')
  return app
}

/** Opens a page of the operator and waits for its stream of events. `moves` lists all later reloads and changes of address. */
async function openLivePage(context: BrowserContext, url: string): Promise<{ page: Page; moves: string[] }> {
  const page = await context.newPage()
  const streamed = page.waitForResponse((response) => response.url().includes('/api/events'))
  await page.goto(url)
  await streamed
  const moves: string[] = []
  page.on('framenavigated', (frame) => moves.push(frame.url()))
  return { page, moves }
}

test('design §8 when a player completes a task, the operator’s open pages (dashboard, History, the player) show it by themselves', async ({
  page,
  context,
  game,
  server,
}) => {
  const { id } = await server.database.db
    .selectFrom('tasks')
    .select('id')
    .where('title', '=', 'Follow us on X')
    .executeTakeFirstOrThrow()
  const app = await openMiniApp(page, game)
  // The operator has all three pages open before the player acts.
  const [dashboard, history, player] = await Promise.all([
    openLivePage(context, server.url),
    openLivePage(context, `${server.url}/history?tab=social&item=${id}`),
    openLivePage(context, `${server.url}/manage-telegram-users/${ADA}`),
  ])
  const chart = dashboard.page.getByRole('region', { name: 'Participations', exact: true })
  const sum = chart.locator('header b')
  const participants = history.page.getByRole('table', { name: 'Participants' })
  const title = history.page
    .getByRole('navigation', { name: 'Social Tasks' })
    .getByRole('listitem')
    .filter({ hasText: 'Follow us on X' })
  const takenBefore = (await title.textContent()) ?? ''
  const timeLine = player.page.getByRole('region', { name: 'Took part in' })
  const ledger = player.page.getByRole('region', { name: 'Ledger' })
  await expect(sum).toHaveText(/^\d+$/)
  const sumBefore = Number(await sum.textContent())
  await expect(participants).not.toContainText('ada_plays')
  await expect(timeLine).toContainText('Nothing yet.')
  await expect(ledger).toContainText('No entries yet')

  await app.getByRole('button', { name: 'Earn' }).click()
  const task = app.getByRole('listitem').filter({ hasText: 'Follow us on X' })
  const answer = page.waitForResponse((response) => response.url().endsWith('/claims'))
  await task.getByRole('button', { name: 'Claim' }).click()
  expect((await answer).status()).toBe(200)
  const claimed = Date.now()

  // The times are printed but not checked: on a busy machine they say nothing about the console.
  const shownIn: string[] = []
  const shown = async (where: string, ...all: [Locator, RegExp][]): Promise<void> => {
    const read = async (): Promise<boolean[]> =>
      Promise.all(all.map(async ([place, text]) => text.test((await place.textContent()) ?? '')))
    await expect.poll(read, { message: where, intervals: [50], timeout: SHOWN_WITHIN_MS }).not.toContain(false)
    shownIn.push(`${where} ${Date.now() - claimed} ms`)
  }
  await Promise.all([
    shown('dashboard', [sum, new RegExp(`^${sumBefore + 1}$`)]),
    shown('History', [participants, /ada_plays/]),
    shown('the player’s page', [timeLine, /Follow us on X/], [ledger, /Social Task · Follow us on X/]),
  ])
  const seen = `A claim is on the operator's open pages after its answer: ${shownIn.join(', ')}`
  test.info().annotations.push({ type: 'seen', description: seen })
  console.log(seen)
  await expect(title).not.toHaveText(takenBefore)
  await expect(player.page.getByRole('region', { name: 'Balance' })).toContainText('500')
  await expect(dashboard.page.getByRole('region', { name: 'Telegram Users', exact: true })).toContainText('1,204')
  expect([dashboard, history, player].flatMap(({ moves }) => moves)).toEqual([])

  await expect(app.getByLabel('Balance')).toHaveText('500')
  await expect(task.getByRole('button', { name: 'Done ✓' })).toBeVisible()
})

/** Plays a round well: stops the light whenever it is on its mark. Runs in the page. */
function playWell(field: HTMLElement | SVGElement): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!field.isConnected) return resolve()
      const [mark, light] = ['.mark', '.light'].map((part) => field.querySelector(part)!.getBoundingClientRect())
      const off = Math.abs(light!.x + light!.width / 2 - (mark!.x + mark!.width / 2))
      if (off < mark!.width / 4) field.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
      requestAnimationFrame(look)
    }
    look()
  })
}

test('design §8 a round is paid once, a task with an input can be claimed, and the ledger lists both', async ({ page, game }) => {
  const app = await openMiniApp(page, game)
  await app.getByRole('main').getByRole('button', { name: 'Play' }).click()
  const sent = page.waitForRequest(/\/rounds\/./)
  await app.getByRole('button', { name: /of 8/ }).evaluate(playWell)
  const result = app.getByRole('status').filter({ hasText: 'points!' })
  const score = Number(/\d+/.exec((await result.textContent()) ?? '')?.[0])
  expect(score).toBeGreaterThan(0)
  await expect(app.getByLabel('Balance')).toHaveText(String(score))
  // Sends the round again, as if its answer had been lost.
  const round = await sent
  const again = await page.request.post(round.url(), { headers: await round.allHeaders(), data: round.postDataBuffer()! })
  expect(await again.json()).toEqual({ score })

  await app.getByRole('button', { name: 'Earn' }).click()
  const vote = app.getByRole('listitem').filter({ hasText: 'Vote for the next skin' })
  await vote.getByRole('textbox').fill('koala')
  await vote.getByRole('button', { name: 'Claim' }).click()
  await expect(vote.getByRole('button', { name: 'Done ✓' })).toBeVisible()
  await expect(app.getByLabel('Balance')).toHaveText(String(score + 100))
  await app.getByRole('button', { name: 'Ledger' }).click()
  const entries = app.getByRole('list').first().getByRole('listitem')
  await expect(entries).toHaveCount(2)
  await expect(entries.first()).toHaveText(/^Vote for the next skin.*\+100/)
  await expect(entries.last()).toContainText(`Round`)
  await expect(entries.last()).toContainText(`+${score}`)
})

test('design §8 a task that the bot verifies has no Claim, an adjustment shows in the Mini App, a blocked player cannot start a round', async ({
  page,
  game,
  server,
}) => {
  const { db } = server.database
  await db.updateTable('tasks').set({ verified_by_bot: true }).where('title', '=', 'Follow us on X').execute()
  const asOperator = async (path: string, data: object): Promise<void> => {
    const answer = await page.request.post(server.url + path, { headers: { origin: server.url }, data })
    expect(answer.status()).toBe(200)
  }
  const app = await openMiniApp(page, game)
  await app.getByRole('button', { name: 'Earn' }).click()
  const task = app.getByRole('listitem').filter({ hasText: 'Follow us on X' })
  await expect(task).toContainText('The bot checks whether it is done.')
  await expect(task.getByRole('button', { name: 'Claim' })).toHaveCount(0)

  await asOperator(`/api/telegram-users/${ADA}/adjustments`, { amount: 0.00000001, reason: 'A prize' })
  await app.getByRole('button', { name: 'Ledger' }).click()
  await expect(app.getByRole('list').first().getByRole('listitem')).toContainText('+0.00000001')
  await expect(app.getByLabel('Balance')).toHaveText('0.00000001')

  await app.getByRole('button', { name: 'Play' }).click()
  const play = app.getByRole('main').getByRole('button', { name: 'Play' })
  await expect(play).toBeEnabled()
  await expect(app.getByRole('status')).toContainText('The light runs over the bar.')
  await asOperator('/api/telegram-users/block', { target: { ids: [String(ADA)] }, reason: 'Cheating', dryRun: false })
  await play.click()
  await expect(app.getByRole('status')).toHaveText(/^You are blocked/)
  await expect(play).toBeDisabled()
})

/** Starts the bot as a player and waits for its greeting. */
async function openChat(
  page: Page,
  { playerPage }: ReferenceGame,
): Promise<{ chat: Locator; say: (text: string) => Promise<void> }> {
  await page.goto(playerPage)
  await page.getByRole('button', { name: 'Start' }).click()
  const chat = page.getByRole('list', { name: 'Chat' }).getByRole('listitem')
  await expect(chat.filter({ hasText: /^Hello Ada! / })).toBeVisible({ timeout: RETRIED_WITHIN_MS })
  const say = async (text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  return { chat, say }
}

const kinds = ['429', '500', 'hang', '403'] as const
/** What the bot prints for each kind but 403. A 403 means that the player has blocked the bot, or grammY retries it silently. */
const reasons = [/retry after 1/, /Internal Server Error/, /no answer/]

function everyKind(method: string): Fault[] {
  return kinds.map((kind) => ({ kind, method }))
}

/** Expects one line of the bot's log for every fault of `method` except 403. */
async function expectLogged({ errorLines }: ReferenceGame, method: string): Promise<void> {
  const logged = (): string[] => errorLines.filter((line) => line.startsWith(`Telegram’s ${method} failed: `))
  await expect.poll(logged, { timeout: RETRIED_WITHIN_MS }).toEqual(reasons.map((reason) => expect.stringMatching(reason)))
}

for (const isWebhook of [false, true]) {
  test.describe(isWebhook ? 'by webhook' : 'by long polling', () => {
    test.use({ bot: { isWebhook } })

    test('design §8 the bot survives every failure of sendMessage', async ({ page, game }) => {
      const { chat, say } = await openChat(page, game)
      const answers = chat.filter({ hasText: 'You have 0 points' })
      // The bot retries after 429, 500 and a call that hangs. After a 403 it does not: the player has blocked the bot.
      for (const [kind, count] of [
        ['429', 1],
        ['500', 2],
        ['hang', 3],
        ['403', 3],
      ] as const) {
        await game.injectFaults([{ kind, method: 'sendMessage' }])
        await say('/balance')
        await expect(answers, kind).toHaveCount(count, { timeout: RETRIED_WITHIN_MS })
      }
      await say('/balance')
      await expect(answers).toHaveCount(4)
      await expectLogged(game, 'sendMessage')
    })

    test.describe('with a token that Telegram does not know', () => {
      test.use({ bot: { isWebhook, telegramToken: '7000000000:another' } })

      test('design §8 the bot prints one line about it and ends', async ({ game }) => {
        expect(await game.botEnded).toBe(1)
        expect(game.errorLines).toEqual([expect.stringMatching(/^The bot cannot start: .*\(401: Unauthorized\)$/)])
      })
    })
  })
}

test('design §8 an announcement’s picture is shown to the player', async ({ page, game, server, context }) => {
  const origin = server.url
  const upload = await context.request.post(`${server.url}/api/files/announcements?name=banner.png`, {
    headers: { origin, 'content-type': 'image/png' },
    data: banner.buffer,
  })
  const { key } = (await upload.json()) as { key: string }
  const post = async (path: string, data: object): Promise<{ id: string }> =>
    (await context.request.post(server.url + path, { headers: { origin }, data })).json()
  const text = { type: 'desc', title: 'With a picture', subtitle: 'S', description: 'Look', reward: 1 }
  const { id } = await post('/api/announcements', { ...text, image: key })
  await post(`/api/announcements/${id}/status`, { status: false })
  const app = await openMiniApp(page, game)
  await app.getByRole('button', { name: 'Earn' }).click()
  const picture = app.getByRole('listitem').filter({ hasText: 'With a picture' }).getByRole('presentation')
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0)
})

test.describe('by webhook, while Telegram fails at first', () => {
  test.use({ bot: { isWebhook: true, faults: everyKind('setWebhook') } })

  test('design §8 the bot starts in spite of every failure of setWebhook', async ({ page, game }) => {
    await openChat(page, game)
    await expectLogged(game, 'setWebhook')
    expect(game.errorLines).toContainEqual(expect.stringMatching(/^The bot is not connected to Telegram .* \(403: Forbidden/))
  })
})

test.describe('by long polling, while Telegram fails at first', () => {
  test.use({ bot: { faults: ['getMe', 'getUpdates'].flatMap(everyKind) } })

  test('design §8 the bot starts and works in spite of every failure of getMe and getUpdates', async ({ page, game }) => {
    const { chat, say } = await openChat(page, game)
    await expectLogged(game, 'getMe')
    await expectLogged(game, 'getUpdates')
    expect(game.errorLines).toContainEqual(expect.stringMatching(/^The bot is not connected to Telegram .* \(403: Forbidden/))
    await say('/balance')
    await expect(chat.filter({ hasText: 'You have 0 points' })).toHaveCount(1, { timeout: RETRIED_WITHIN_MS })
  })
})

test('design §8 the bot’s buttons work in spite of every failure of their calls', async ({ page, game }) => {
  const { chat } = await openChat(page, game)
  const message = chat.nth(1) // after the player’s /start
  const balance = message.getByRole('button', { name: 'My balance' })
  const top = message.getByRole('button', { name: 'Top players' })
  const says = (text: RegExp) => expect(message).toHaveText(text, { timeout: RETRIED_WITHIN_MS })
  const faultsOf = (method: string): Fault[] => everyKind(method).filter(({ kind }) => kind !== '403')

  await game.injectFaults(faultsOf('answerCallbackQuery'))
  await balance.click()
  await says(/^You have 0 points/)
  await expectLogged(game, 'answerCallbackQuery')
  await game.injectFaults(faultsOf('editMessageText'))
  await top.click()
  await says(/^1\. /)
  await expectLogged(game, 'editMessageText')
  // After a 403 the bot drops this update (the player has blocked it) and handles the next one.
  for (const method of ['answerCallbackQuery', 'editMessageText']) {
    await game.injectFaults([{ kind: '403', method }])
    await balance.click()
    await top.click()
    await balance.click()
    await says(/^You have 0 points/)
    await top.click()
    await says(/^1\. /)
  }
  expect(game.errorLines).toHaveLength(6)
})

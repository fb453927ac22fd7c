/** The editor of segments: the filters of Telegram Users with groups of which one must match, saved as a shared view (design §7). */
import type { Page, Route } from '@playwright/test'
import { sql } from 'kysely'
import { expectStateAccessible } from '#src/axe.ts'
import { openSheet, settled } from '#src/lists.ts'
import { phone, sizes } from '#src/sizes.ts'
import { expect, type ConsoleServer, test, toast } from '#src/test.ts'

const PATH = '/manage-telegram-users'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const filters = (page: Page) => page.getByRole('button', { name: /^Filters/ })
const pane = (page: Page) => page.getByRole('dialog', { name: 'Filters' })
/** The foot of the list with the number of players that are found; an open pane of filters shows it a second time. */
const foot = (page: Page) => page.getByRole('navigation', { name: 'Pages' })
const chips = (page: Page) => page.getByRole('list', { name: 'Active filters' })

/** Returns how many players match conditions of PostgreSQL, in the words of the list. */
async function playersWhere({ database: { db } }: ConsoleServer, conditions: string): Promise<string> {
  const { rows } = await sql<{
    total: string
  }>`select count(*) as total from telegram_users as p where ${sql.raw(conditions)}`.execute(db)
  return `${Number(rows[0]!.total).toLocaleString('en-US')} players`
}

const TOOK_PART = (title: string) =>
  `exists (select from participations join tasks on tasks.id = item_id where participations.user_id = p.user_id and kind = 'social' and title = '${title}')`

test('design §7 players are found by an item they took part in, chosen by typing, and by all of several things they have', async ({
  page,
  server,
}) => {
  await page.goto(PATH)
  await filters(page).click()
  const item = pane(page).getByRole('combobox', { name: 'Took part in', exact: true })
  await item.click()
  await page.keyboard.type('follow us on x')
  await page.keyboard.press('Enter')
  await expect(item).toHaveValue('Follow us on X')
  await expect(foot(page)).toContainText(await playersWhere(server, TOOK_PART('Follow us on X')))
  await pane(page).getByRole('checkbox', { name: 'Wallet', exact: true }).check()
  await pane(page).getByRole('checkbox', { name: 'Email' }).check()
  await page.keyboard.press('Escape')
  const having = `email is not null and (ton_wallet_address is not null or bsc_wallet is not null)`
  await expect(foot(page)).toContainText(await playersWhere(server, `${TOOK_PART('Follow us on X')} and ${having}`))
  await expect(chips(page).getByRole('listitem')).toHaveText([
    'Took part in: Follow us on X',
    'Has: Email, Wallet',
    'Clear filters',
  ])
  await page.reload()
  await expect(chips(page)).toContainText('Took part in: Follow us on X')
  await chips(page).getByRole('button', { name: 'Remove filter Took part in' }).click()
  await expect(foot(page)).toContainText(await playersWhere(server, having))
})

test('design §7 groups of conditions, of which one must match, are built by keyboard and saved as a segment', async ({
  page,
  server,
}) => {
  await page.goto(PATH)
  await filters(page).click()
  await pane(page).getByLabel('Status').selectOption('Not blocked')
  await expect(pane(page).locator(':focus'), 'the pane has taken the focus').toHaveCount(1)
  await pane(page).getByRole('button', { name: 'Add a group' }).focus()
  await page.keyboard.press('Enter')
  const first = pane(page).getByRole('group', { name: 'Group 1', exact: true })
  await first.getByLabel('Add a condition to Group 1').selectOption('Balance from')
  await page.keyboard.type('5000')
  await page.keyboard.press('Enter')
  await pane(page).getByRole('button', { name: 'Or another group' }).click()
  const second = pane(page).getByRole('group', { name: 'Group 2', exact: true })
  await second.getByLabel('Add a condition to Group 2').selectOption('Wallet')
  await second.getByRole('combobox', { name: 'Wallet' }).selectOption('Has a TON wallet')
  await page.keyboard.press('Escape')
  const words = 'Any of: (Balance from: 5,000) or (Wallet: Has a TON wallet)'
  await expect(chips(page)).toContainText(words)
  const found = await playersWhere(
    server,
    `(ton_wallet_address is not null or exists (select from balances where balances.user_id = p.user_id and balance >= 5000))`,
  )
  await expect(page.getByText(found)).toBeVisible()

  await page.getByRole('button', { name: /^Saved/ }).click()
  const views = page.getByRole('dialog', { name: 'Saved views' })
  await views.getByLabel('Name', { exact: true }).fill('Rich or TON')
  await views.getByRole('checkbox', { name: 'Share with all admins' }).check()
  await views.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(toast(page, 'View saved.')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Saved/ })).toHaveText('Saved: Rich or TON')
  await page.getByRole('button', { name: /^Saved/ }).click()
  const href = await views.getByRole('link', { name: /Rich or TON/ }).getAttribute('href')
  await page.goto('/')
  await page.goto(href ?? '')
  await expect(chips(page)).toContainText(words)
  await expect(page.getByText(found)).toBeVisible()
  await expect(page.getByRole('button', { name: /^Saved/ })).toHaveText('Saved: Rich or TON')
})

test('design §7 the editor of segments: axe finds nothing, on a desktop and on a phone', async ({ page, server }) => {
  const { id } = await server.database.db
    .selectFrom('tasks')
    .select('id')
    .where('collection', '=', 'social')
    .orderBy('priority')
    .executeTakeFirstOrThrow()
  const any = JSON.stringify([{ has: 'email,wallet' }, { tookPart: `social:${id}`, joinedDays: 30 }])
  await page.goto(`${PATH}?any=${encodeURIComponent(any)}&seenDays=7`)
  await settled(page)
  await filters(page).click()
  await expect(pane(page).getByRole('group', { name: 'Group 2', exact: true })).toBeVisible()
  await expectStateAccessible(page)
  await page.setViewportSize(phone)
  await pane(page).getByRole('combobox', { name: 'Took part in', exact: true }).first().click()
  await expect(page.getByRole('listbox').getByRole('option').first()).toBeVisible()
})

test('design §7 a list that takes long to count says what is known of its number first, and then the number', async ({
  page,
}) => {
  const held: (() => Promise<void>)[] = []
  const answer = (route: Route, body: object) => route.fulfill({ json: body })
  await page.route('**/api/telegram-users?*', async (route) => {
    const response = await route.fetch()
    await answer(route, { ...(await response.json()), total: null, pageCount: null }) // as for a list that is long
  })
  await page.route('**/api/telegram-users/count?*', async (route) => {
    const { searchParams } = new URL(route.request().url())
    const isRare = searchParams.get('has') === 'email'
    if (searchParams.get('exact') === 'true') held.push(() => answer(route, { total: isRare ? 1203 : 9876, isMore: false }))
    else if (searchParams.has('has'))
      await answer(route, { total: 2, isMore: true, isUnfinished: true, ...(isRare ? { under: 2900 } : { about: 9700 }) })
    else await route.continue()
  })
  for (const [has, estimate, exact, pages] of [
    ['email', 'Probably under 2,900 players', '1,203 players', '241'],
    ['wallet', 'About 9,700 players', '9,876 players', '1,976'],
  ] as const) {
    await page.goto(`${PATH}?has=${has}`)
    await expect(foot(page)).toContainText(estimate)
    await expect(foot(page)).toContainText('Page 1 of …')
    await filters(page).click()
    await expect(pane(page).getByText(estimate)).toBeVisible()
    await expect.poll(() => held.length).toBe(1)
    await held.pop()!()
    await expect(pane(page).getByText(exact)).toBeVisible()
    await expect(foot(page)).toContainText(exact)
    await expect(foot(page)).toContainText(`Page 1 of ${pages}`)
    await page.keyboard.press('Escape')
  }
})

for (const viewport of sizes)
  test.describe(`a segment that is in use, at ${viewport.width} × ${viewport.height}`, () => {
    test.use({ viewport, expectedNoise: { patterns: [/status of 409/] } })

    test('design §7 is not deleted, and the focus returns to the button of the views', async ({ page, server }) => {
      const view = { list: 'telegramUsers', name: 'With a wallet', address: 'wallet=ton', isShared: true }
      const added = await page.request.post('/api/views', { data: view, headers: { origin: server.url } })
      const { id } = (await added.json()) as { id: string }
      await server.database.db.updateTable('tasks').set({ segment_id: id }).execute()
      await page.goto(PATH)
      await settled(page)
      if (viewport === phone) await openSheet(page)
      const saved = page.getByRole('button', { name: 'Saved', exact: true })
      await saved.press('Enter')
      await page.getByRole('button', { name: 'Delete With a wallet' }).press('Enter')
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete view' }).press('Enter')
      await expect(page.getByRole('alertdialog')).toHaveCount(0)
      await expect(toast(page, 'so it must stay and stay shared.')).toBeVisible()
      await expect(saved).toBeFocused()
    })
  })

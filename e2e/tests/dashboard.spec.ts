/** The dashboard (§2 Dashboard; §3 metrics). */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { addPlayers, beginWithinHour, card, idOfWheel } from '#src/dashboard.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { participationsIn } from '#src/sample.ts'
import { sizes } from '#src/sizes.ts'
import { expect, test } from '#src/test.ts'

for (const path of ['/', '/admin']) {
  test(`§2 ${path} shows the five cards with the figures of the sample`, async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto(path)
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await expect(card(page, 'Total Users')).toContainText('1')
    await expect(card(page, 'User Type')).toContainText(/Users\D*0/)
    await expect(card(page, 'User Type')).toContainText(/Admins\D*1/)
    await expect(card(page, 'Telegram Users')).toContainText('1,203')
    await expect(card(page, 'Active Announcements')).toContainText('5')
    for (const [type, count] of Object.entries({ Instagram: 3, Youtube: 2, Website: 2, Twitter: 4, Telegram: 2 })) {
      await expect(card(page, 'Task By Type')).toContainText(new RegExp(`${type}\\D*${count}`))
    }
    await expect(card(page, 'Task By Type').getByRole('term')).toHaveText([
      'Instagram',
      'Youtube',
      'Website',
      'Twitter',
      'Telegram',
      'LinkedIn',
      'Discord',
      'Email',
      'Bsc Wallet Address',
    ])
  })
}

test.describe('§2 without data', () => {
  test.use({ sample: false })
  test('§2 a missing count shows 0', async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto('/')
    await expect(card(page, 'Telegram Users')).toContainText('0')
    for (const type of ['Instagram', 'Youtube', 'Website', 'Twitter', 'Telegram']) {
      await expect(card(page, 'Task By Type')).toContainText(new RegExp(`${type}\\D*0`))
    }
  })
})

test('§2 while the metrics load it shows Loading...', async ({ page, signIn }) => {
  await signIn('admin')
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/metrics', async (route) => {
    await held
    await route.continue()
  })
  await page.goto('/')
  await expect(page.getByText('Loading...', { exact: true })).toBeVisible()
  release()
  await expect(card(page, 'Total Users')).toBeVisible()
})

test.describe('§8 failing metrics', () => {
  test.use({ expectedNoise: { patterns: [/status of 500/] } })
  test('§8 Error calculating metrics, with a way to try again', async ({ page, signIn }) => {
    await signIn('admin')
    await page.route('**/api/metrics', (route) =>
      route.fulfill({ status: 500, json: { success: false, code: 'METRICS_FAILED', message: 'Error calculating metrics' } }),
    )
    await page.goto('/')
    await expect(page.getByText('Error calculating metrics')).toBeVisible()
    await page.unroute('**/api/metrics')
    await page.getByRole('button', { name: /retry|try again/i }).click()
    await expect(card(page, 'Total Users')).toBeVisible()
  })
})

test('Dashboard: the five cards come first and lead to their lists', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible()
  await expect(page.getByRole('heading', { level: 2 })).toHaveText([
    'Total Users',
    'User Type',
    'Telegram Users',
    'Active Announcements',
    'Task By Type',
    'Today',
    'Activity',
  ])
  for (const [name, path] of Object.entries({
    'See all users': '/manage-users',
    'See all players': '/manage-telegram-users',
    'See what is active': '/annoucements',
    'See social ones': '/social-tasks',
    'See daily ones': '/daily-tasks',
  })) {
    await page.goto('/')
    await page.getByRole('link', { name, exact: true }).click()
    await expect(page).toHaveURL(new RegExp(`${path}(\\?|$)`))
  }
})

test('Dashboard: the first four figures are in one row, or in two rows if there is not enough room', async ({ page, signIn }) => {
  await signIn('admin')
  const titles = ['Total Users', 'User Type', 'Telegram Users', 'Active Announcements']
  for (const [width, inRow] of Object.entries({ 390: 2, 800: 2, 1000: 4, 1210: 4, 1280: 4, 1440: 4, 1920: 4 })) {
    await page.setViewportSize({ width: Number(width), height: 800 })
    await page.goto('/')
    const boxes = await Promise.all(titles.map((name) => page.getByRole('region', { name, exact: true }).boundingBox()))
    const firstRow = boxes.filter((box) => box!.y === boxes[0]!.y)
    expect(firstRow, `at ${width}`).toHaveLength(inRow)
  }
})

test('Dashboard: the range is in the address and survives a reload, and every chart can be a table', async ({
  page,
  server,
  signIn,
}) => {
  await beginWithinHour()
  await addPlayers(server, 3)
  await addPlayers(server, 2, 2)
  await addPlayers(server, 4, 5 * 24)
  await signIn('admin')
  await page.goto('/admin')
  const players = card(page, 'New players')
  const ranges = page.getByRole('group', { name: 'Range of time' })
  await expect(ranges.getByRole('link', { name: '30 d' })).toHaveAttribute('aria-current', 'page')
  await page.goto('/admin?range=30d')
  await expect(ranges.getByRole('link', { name: '30 d' })).toHaveAttribute('aria-current', 'page')
  await ranges.getByRole('link', { name: '24 h' }).click()
  await expect(page).toHaveURL('/admin?range=24h')
  await expect(card(page, 'Participations').locator('header')).toContainText('5')
  await page.reload()
  await expect(ranges.getByRole('link', { name: '24 h' })).toHaveAttribute('aria-current', 'page')
  await expect(ranges.locator('[aria-current]')).toHaveCount(1)

  await players.getByRole('button', { name: 'Show as table' }).click()
  await expect(players.getByRole('columnheader')).toHaveText(['Hour', 'New players'])
  await expect(players.getByRole('row')).toHaveCount(25)
  await expect(players.getByRole('row').nth(1)).toContainText(/3$/) // the newest comes first
  await expect(players.getByRole('row').nth(3)).toContainText(/2$/)
  await ranges.getByRole('link', { name: '7 d' }).click()
  await expect(page).toHaveURL('/admin?range=7d')
  await expect(players.getByRole('columnheader').first()).toHaveText('Day')
  await expect(players.getByRole('row')).toHaveCount(8)
  await expect(players.locator('header')).toContainText(/\d/)
  await players.getByRole('button', { name: 'Show as chart' }).click()
  await expect(players.getByRole('table')).toHaveCount(0)

  await ranges.getByRole('link', { name: 'All' }).click()
  await card(page, 'Participations').getByRole('button', { name: 'Show as table' }).click()
  await expect(card(page, 'Participations').getByRole('columnheader')).toHaveText([
    'Month',
    'Social',
    'Daily',
    'Announcement',
    'All',
  ])
  const october = { year: 2026, month: 9 }
  const counts = ['socialTasksHistory', 'dailyTasksHistory', 'announcementHistory'].map((name) => participationsIn(name, october))
  const row = card(page, 'Participations').getByRole('row', { name: /^October 2026/ })
  await expect(row).toHaveText(['October 2026', ...counts, counts.reduce((sum, count) => sum + count)].join(''))
})

test('Dashboard: Back returns to the range before, and then to the page before; the present range adds no step', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/trash')
  await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
  const ranges = page.getByRole('group', { name: 'Range of time' })
  const choose = async (name: string, address: string) => {
    await ranges.getByRole('link', { name }).click()
    await expect(page).toHaveURL(address)
    await expect(ranges.getByRole('link', { name })).toHaveAttribute('aria-current', 'page')
  }
  await choose('30 d', '/')
  await choose('24 h', '/?range=24h')
  await choose('24 h', '/?range=24h')
  await choose('7 d', '/?range=7d')
  await page.goBack()
  await expect(page).toHaveURL('/?range=24h')
  await expect(ranges.getByRole('link', { name: '24 h' })).toHaveAttribute('aria-current', 'page')
  await page.goForward()
  await expect(page).toHaveURL('/?range=7d')
  for (const address of ['/?range=24h', '/', '/trash']) {
    await page.goBack()
    await expect(page).toHaveURL(address)
  }
  await page.goto('/?range=30d')
  await choose('30 d', '/')
  await page.goBack()
  await expect(page, 'the address of the same range was replaced').toHaveURL('/trash')
})

test('Dashboard: panels without activity take no room; one line names them, and links to a range that may have some', async ({
  page,
  server,
  signIn,
}) => {
  await addPlayers(server, 4, 5 * 24)
  await signIn('admin')
  await page.goto('/?range=24h')
  const nothing = page.getByText(/^Nothing to show:/)
  await expect(nothing).toContainText(
    'Nothing to show: New players, Participations, Rewards paid, Rewards per item, Participations by type.',
  )
  await expect(page.getByRole('slider')).toHaveCount(0)
  await expect(card(page, 'Participations')).toHaveCount(0)
  await nothing.getByRole('link', { name: 'Show the last 30 days' }).click()
  await expect(page).toHaveURL('/')
  await expect(card(page, 'Participations').locator('header')).toContainText('4')
  await nothing.getByRole('link', { name: 'Show all of the time' }).click()
  await expect(page).toHaveURL('/?range=all')
  await expect(nothing).toHaveText('Nothing to show: Rewards paid, Rewards per item.')
})

test('Dashboard: Top balances shows the id of an erased or nameless player once', async ({ page, server, signIn }) => {
  const { db } = server.database
  const { rows } = await sql<{ id: number }>`select user_id as id from balances order by balance desc, user_id limit 2`.execute(
    db,
  )
  const [erased, nameless] = rows.map(({ id }) => id)
  const { call } = await otherAdmin(server)
  await call('POST', `/api/telegram-users/${erased}/erase`, { confirmation: erased! })
  await sql`update telegram_users set first_name = null, last_name = null, username = null where user_id = ${nameless!}`.execute(
    db,
  )
  await signIn('admin')
  await page.goto('/')
  const ranks = card(page, 'Top balances').getByRole('listitem')
  await expect(ranks.nth(0).getByRole('link')).toHaveText('Erased player')
  await expect(ranks.nth(0).getByText(/^-\d+$/)).toHaveCount(1)
  await expect(ranks.nth(1).getByText(String(nameless), { exact: true })).toHaveCount(1)
})

test('Dashboard: the ranks link to the player, the item and the list of a type', async ({ page, server, signIn }) => {
  await addPlayers(server, 7)
  await signIn('admin')
  await page.goto('/')
  const balances = card(page, 'Top balances')
  await expect(balances.getByRole('listitem')).toHaveCount(10)
  const [richest] = await server.database.db
    .selectFrom('balances')
    .select(['user_id', 'balance'])
    .orderBy('balance', 'desc')
    .orderBy('user_id')
    .limit(1)
    .execute()
  await expect(balances.getByRole('listitem').first()).toContainText(richest!.balance.toLocaleString('en-US'))
  await expect(balances.getByRole('link').nth(1)).toHaveAttribute('href', `/manage-telegram-users/${richest!.user_id}`)
  await expect(card(page, 'Participations by type').getByRole('link', { name: 'Telegram tasks' })).toHaveAttribute(
    'href',
    '/daily-tasks?type=telegram',
  )
  await card(page, 'Most participants this week').getByRole('link', { name: 'Spin the wheel' }).click()
  await expect(page).toHaveURL(`/history?tab=daily&item=${await idOfWheel(server.database)}`)
  await expect(page.getByRole('heading', { name: 'Spin the wheel' })).toBeVisible()
})

test('Dashboard: figures change without a reload, and screen readers do not announce it', async ({ page, server, signIn }) => {
  await signIn('admin')
  await page.goto('/?range=24h')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(page.getByText(/^Nothing to show: New players/)).toBeVisible()
  let loads = 0
  page.on('load', () => loads++)
  await addPlayers(server, 5)
  await expect(card(page, 'Telegram Users')).toContainText('1,208')
  await expect(page.getByRole('slider', { name: 'New players' })).toHaveAttribute('aria-valuetext', /: 5 new players/)
  await expect(card(page, 'Most participants this week')).toContainText('Spin the wheel')
  await expect(
    page.getByRole('main').locator('[aria-live], [role=status], [role=alert], output').filter({ hasText: /\S/ }),
  ).toHaveCount(0)
  expect(loads).toBe(0)
})

test.describe('Dashboard and a session that ends', () => {
  test.use({ expectedNoise: { patterns: [/status of 401/] } })
  test('Dashboard: a session that ends elsewhere ends the stream, and the page shows Login', async ({ page, server, signIn }) => {
    const { id } = await signIn('admin')
    await page.goto('/')
    await expect(page.getByText('Live', { exact: true })).toBeVisible()
    await server.database.transaction(async (tx) => {
      await tx.deleteFrom('sessions').where('user_id', '=', id).execute()
      await sql`select pg_notify('sessions', ${id})`.execute(tx)
    })
    await expect(page.getByText('Sign into your account')).toBeVisible()
  })
})

test.describe('Dashboard: activity that fails', () => {
  test.use({ expectedNoise: { patterns: [/status of 500/] } })
  test('Dashboard: activity that cannot be loaded says so and can be tried again; the cards stay', async ({ page, signIn }) => {
    await signIn('admin')
    // The stream of events would bring the figures that the failing call does not.
    await page.route('**/api/events*', (route) => route.fulfill({ status: 204 }))
    await page.route('**/api/activity*', (route) =>
      route.fulfill({ status: 500, json: { success: false, code: 'METRICS_FAILED', message: 'Error calculating metrics' } }),
    )
    await page.goto('/')
    await expect(page.getByText('The activity cannot be shown right now.')).toBeVisible()
    await expect(card(page, 'Total Users')).toContainText('1')
    await page.unroute('**/api/activity*')
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect(card(page, 'Top balances').getByRole('listitem')).toHaveCount(10)
  })
})

test.describe('Dashboard without data', () => {
  test.use({ sample: false })
  test('Dashboard: if nothing has happened, the panels say so', async ({ page, signIn }) => {
    await signIn('admin')
    for (const range of ['', '?range=24h', '?range=all']) {
      await page.goto(`/${range}`)
      await expect(page.getByText(/^Nothing to show:/)).toContainText(
        'New players, Participations, Rewards paid, Rewards per item, Participations by type, Top balances, Most participants this week.',
      )
    }
  })
})

test.describe('a first load', () => {
  test.use({ ownContext: true }) // the layout shift of a load without caches

  test('Dashboard: axe finds nothing in charts and tables, in light and dark, at both sizes; nothing jumps', async ({
    page,
    server,
    signIn,
  }) => {
    await addPlayers(server, 3)
    await signIn('admin')
    for (const viewport of sizes) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await page.goto('/?range=24h')
      await expect(page.getByText('Live', { exact: true })).toBeVisible()
      await page.getByRole('slider', { name: 'New players', exact: true }).focus()
      expect(await layoutShift(page), 'cumulative layout shift').toBe(0)
      await expectAccessible(page)
      const toTable = page.getByRole('button', { name: 'Show as table' })
      const charts = await toTable.count()
      for (let left = charts; left > 0; left -= 1) await toTable.first().click()
      await expect(page.getByRole('main').getByRole('table')).toHaveCount(charts)
      await expectAccessible(page)
    }
  })
})

/** Returns the page's layout shift without user input (https://web.dev/cls). */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const seen = (list: PerformanceObserverEntryList) =>
          list
            .getEntries()
            .reduce(
              (sum, entry) =>
                sum + ('value' in entry && !('hadRecentInput' in entry && entry.hadRecentInput) ? Number(entry.value) : 0),
              0,
            )
        const observer = new PerformanceObserver((list) => resolve(seen(list)))
        observer.observe({ type: 'layout-shift', buffered: true })
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)))
      }),
  )
}

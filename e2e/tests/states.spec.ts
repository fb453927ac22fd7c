/** Every screen while it loads, without data, after a server error, and offline: it says so, is accessible, and Retry loads it. */
import { expectAccessible, expectStateAccessible } from '#src/axe.ts'
import type { Page } from '@playwright/test'
import { rows, settled } from '#src/lists.ts'
import { resize, sizes } from '#src/sizes.ts'
import { expect, loseConnection, test, toast } from '#src/test.ts'

interface Screen {
  path: string
  /** The call that loads the list. */
  api: string
  empty: string
}

const lists: Screen[] = [
  { path: '/manage-users', api: '**/api/users?*', empty: 'No other users yet.' },
  { path: '/manage-telegram-users', api: '**/api/telegram-users?*', empty: 'No Telegram users yet.' },
  { path: '/social-tasks', api: '**/api/social-tasks?*', empty: 'No tasks found!' },
  { path: '/daily-tasks', api: '**/api/daily-tasks?*', empty: 'No tasks found!' },
  { path: '/annoucements', api: '**/api/announcements?*', empty: 'No annoucements found!' }, // sic, §8
  { path: '/history', api: '**/api/history/announcement', empty: 'Nothing here yet.' },
]

for (const { path, api, empty } of lists) {
  test.describe(path, () => {
    test.beforeEach(async ({ signIn, page: _page }) => {
      await signIn('admin')
    })

    test.describe('without data', () => {
      test.use({ sample: false })
      test(`${path}: an empty list says so, and is accessible`, async ({ page }) => {
        await page.goto(path)
        await expect(page.getByText(empty)).toBeVisible()
        await expectStateAccessible(page)
      })
    })

    test(`${path}: a loading list says so, and is accessible`, async ({ page }) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.route(api, async (route) => {
        await released
        await route.continue()
      })
      await page.goto(path)
      await expect(
        page
          .getByRole('status')
          .filter({ hasText: /Loading/ })
          .or(page.getByRole('status', { name: 'Loading' })),
      ).toBeVisible()
      await expectStateAccessible(page)
      release()
      await expect(page.getByText(/Page 1 of|Season 2 is live/).first()).toBeVisible()
    })

    test(`${path}: a failure shows its message, is accessible, and Retry loads the list`, async ({ page, expectedNoise }) => {
      expectedNoise.patterns = [/500/]
      let isBroken = true
      await page.route(api, (route) =>
        isBroken
          ? route.fulfill({ status: 500, json: { success: false, code: 'INTERNAL', message: 'Internal Server Error!' } })
          : route.continue(),
      )
      await page.goto(path)
      await expect(page.getByRole('alert').filter({ hasText: 'Internal Server Error!' })).toBeVisible()
      await expectStateAccessible(page)
      isBroken = false
      await page.getByRole('button', { name: 'Retry' }).first().click()
      await expect(page.getByText(/Page 1 of|Season 2 is live/).first()).toBeVisible()
    })
  })
}

test('Offline: a notice says so until the connection is back', async ({ page, context, signIn }) => {
  await signIn('admin')
  await openTasks(page)
  await loseConnection(page)
  const notice = page.getByText('You are offline.')
  await expect(notice).toBeVisible()
  await expectStateAccessible(page)
  await context.setOffline(false)
  await expect(notice).toBeHidden()
})

test.describe('pages that cannot be loaded', () => {
  test.use({
    ownContext: true, // without the pages that earlier tests have loaded
    expectedNoise: {
      patterns: [
        /Failed to (load|fetch)|ERR_INTERNET_DISCONNECTED|ERR_FAILED/,
        /dynamically imported module|Unable to preload CSS|server cannot be reached/,
      ],
    },
  })

  test('Offline: the failure of the first act on a page shows a toast', async ({ page, signIn }) => {
    await signIn('admin')
    await openTasks(page)
    await loseConnection(page)
    await page.getByRole('row').filter({ hasText: 'Follow us on X' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(toast(page, 'You are offline: nothing was saved.')).toBeVisible()
  })

  test('Offline: Next Page keeps the rows, says why, and works once the connection is back', async ({
    page,
    context,
    signIn,
  }) => {
    await signIn('admin')
    await page.goto('/manage-telegram-users?sort=a-z')
    await settled(page)
    const before = await rows(page).allTextContents()
    await loseConnection(page)
    await page.getByRole('button', { name: 'Next Page' }).click()
    await expect(toast(page, 'The server cannot be reached. Please try again.')).toBeVisible()
    await expect(page.getByText('Page 1 of 241')).toBeVisible()
    expect(await rows(page).allTextContents()).toEqual(before)
    await expect(page).toHaveURL(/\?sort=a-z$/)
    await context.setOffline(false)
    await page.getByRole('button', { name: 'Next Page' }).click()
    await expect(page.getByText('Page 2 of 241')).toBeVisible()
    await settled(page)
    expect(await rows(page).allTextContents()).not.toEqual(before)
  })

  test('Offline: if blocking a player fails, the page stays and the dialog keeps the reason', async ({
    page,
    context,
    signIn,
  }) => {
    await signIn('admin')
    await page.goto('/manage-telegram-users/100008077')
    await page.getByRole('button', { name: 'Block or Erase' }).click()
    await page.getByRole('button', { name: 'Block Player' }).click()
    const dialog = page.getByRole('dialog', { name: 'Block Player' })
    await dialog.getByLabel('Reason').fill('A farm')
    await loseConnection(page)
    await dialog.getByRole('button', { name: 'Block player' }).click()
    await expect(dialog).toContainText('You are offline: nothing was saved.')
    await expect(dialog.getByLabel('Reason')).toHaveValue('A farm')
    await expect(page.getByText('Identity')).toBeVisible()
    await context.setOffline(false)
    await dialog.getByRole('button', { name: 'Block player' }).click()
    await expect(dialog).toBeHidden()
    await expect(page.getByText(/^Blocked by/)).toContainText('A farm')
  })

  for (const [name, heading, text] of [
    ['History', 'History', 'Season 2 is live'],
    ['Follow us on X', 'Update Social Task', 'Preview in Telegram'], // a form, whose page has no style sheet
  ] as const)
    test(`Offline: after a click on ${name} the app stays, and the page loads by itself once the connection is back`, async ({
      page,
      context,
      signIn,
    }) => {
      await signIn('admin')
      await openTasks(page)
      await loseConnection(page)
      await page.getByRole('link', { name, exact: true }).click()
      await expect(page.getByText('This page could not be shown. The server cannot be reached.')).toBeVisible()
      await expect(page.getByText('You are offline.')).toBeVisible()
      await page.getByRole('button', { name: 'Retry' }).click()
      await expect(page.getByText('This page could not be shown.'), 'not the browser’s error page').toBeVisible()
      await context.setOffline(false)
      await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible()
      await expect(page.getByText(text).first()).toBeVisible()
    })

  for (const file of ['js', 'css'])
    test(`after an update of the server that removed a page’s .${file} file, the page loads anew and shows`, async ({
      page,
      signIn,
    }) => {
      await signIn('admin')
      await openTasks(page)
      const removed = new RegExp(String.raw`/assets/history-page-[^/]*\.${file}$`)
      let isLoadedAnew = false
      page.on('request', (request) => void (isLoadedAnew ||= request.isNavigationRequest()))
      await page.route(removed, (route) => (isLoadedAnew ? route.continue() : route.fulfill({ status: 404 })))
      await page.getByRole('link', { name: 'History', exact: true }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'History' })).toBeVisible()
      expect(isLoadedAnew).toBe(true)
    })

  test('after an update of the server that removed the palette’s script, Ctrl K loads the page anew, unless input is unsaved', async ({
    page,
    signIn,
  }) => {
    await signIn('admin')
    let loads = 0
    page.on('request', (request) => void (loads += Number(request.isNavigationRequest())))
    await page.route(/\/assets\/palette-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }))
    await page.goto('/social-tasks-form')
    await page.getByLabel('Title', { exact: true }).fill('Mine')
    await page.keyboard.press('Control+k')
    const failure = toast(page, 'The palette could not be loaded.')
    await expect(failure).toBeVisible()
    expect(loads).toBe(1)
    await page.getByLabel('Title', { exact: true }).fill('')
    const isLoadedAnew = page.waitForEvent('load')
    await page.keyboard.press('Control+k')
    await isLoadedAnew
    await expect(page.getByLabel('Title', { exact: true })).toBeVisible()
    await page.keyboard.press('Control+k')
    await expect(failure).toBeVisible()
    expect(loads, 'it loads anew once').toBe(2)
  })

  test('If the server cannot be reached, the app stays, and the page loads by itself with its styles once it can', async ({
    page,
    signIn,
  }) => {
    await signIn('admin')
    await openTasks(page)
    await page.route('**/*', (route) => route.abort())
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await expect(page.getByText('This page could not be shown. The server cannot be reached.')).toBeVisible()
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect(page.getByText('This page could not be shown.')).toBeVisible()
    await page.unroute('**/*')
    await expect(page.getByText('Season 2 is live')).toBeVisible()
    await expect(page.getByRole('navigation', { name: 'Annoucements' })).toHaveCSS('overflow-y', 'auto')
  })

  test('§2 If the script of the charts cannot be loaded, the figures still show, and Retry loads the activity', async ({
    page,
    signIn,
  }) => {
    await signIn('admin')
    await page.route('**/assets/activity-*.js', (route) => route.abort())
    await page.goto('/')
    await expect(page.getByText('The activity could not be loaded.')).toBeVisible()
    await expect(page.getByRole('region', { name: 'Telegram Users', exact: true })).toContainText('1,203')
    await page.unroute('**/assets/activity-*.js')
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect(page.getByRole('region', { name: 'Activity' })).toContainText('New players')
  })

  test('§8 The messages about a save that failed offline disappear when the connection is back', async ({
    page,
    context,
    signIn,
  }) => {
    await signIn('admin')
    await page.goto('/social-tasks')
    await page.getByRole('link', { name: 'Follow us on X', exact: true }).click()
    await page.getByLabel('Title', { exact: true }).fill('Follow us')
    const update = page.getByRole('form').getByRole('button', { name: 'Update', exact: true })
    const message = page.getByText('You are offline: nothing was saved.')
    await loseConnection(page)
    await page.clock.install()
    await update.click()
    await expect(page.getByRole('form').locator(message), 'at the form').toBeVisible()
    await page.clock.runFor(1000)
    await expect(page.getByRole('alert').locator(message), 'in the toast').toBeVisible()
    await context.setOffline(false)
    await expect(page.getByRole('form').locator(message), 'once the connection is back').toHaveCount(0)
    await update.click()
    await expect(page.getByRole('heading', { level: 1, name: 'Social Tasks' })).toBeVisible()
    await expect(message).toHaveCount(0)
  })
})

test.describe('a list that could not be loaded', () => {
  test.use({ expectedNoise: { patterns: [/ERR_FAILED|status of 50\d/] } })
  test.beforeEach(async ({ signIn, page }) => {
    await signIn('admin')
    await page.goto('/manage-telegram-users')
    await settled(page)
  })
  const search = async (page: Page, text: string) => page.getByRole('searchbox', { name: 'Search players' }).fill(text)

  test('loads by itself once the server can be reached again', async ({ page }) => {
    await page.route('**/api/**', (route) => route.abort())
    await search(page, 'moon_80')
    await expect(page.getByRole('alert')).toHaveText(/^The server cannot be reached. Please try again./)
    await page.unroute('**/api/**')
    await expect(rows(page).first()).toContainText('moon_80')
    await expect(page.getByRole('alert')).toHaveCount(0)
  })

  test('loads by itself once the server is ready again, also if only this call had failed', async ({ page }) => {
    const busy = { success: false, code: 'UNAVAILABLE', message: 'Too busy' }
    await page.route('**/api/telegram-users?*', (route) => route.fulfill({ status: 503, json: busy }))
    await search(page, 'moon_80')
    await expect(page.getByRole('alert')).toHaveText(/^Too busy/)
    await page.unroute('**/api/telegram-users?*')
    await expect(rows(page).first()).toContainText('moon_80')
  })

  test('puts the focus on the page’s heading after Retry', async ({ page }) => {
    const broken = { success: false, code: 'INTERNAL', message: 'Internal Server Error!' }
    await page.route('**/api/telegram-users?*', (route) => route.fulfill({ status: 500, json: broken }))
    await search(page, 'moon_80')
    const retry = page.getByRole('button', { name: 'Retry' })
    await expect(retry).toBeVisible()
    await page.unroute('**/api/telegram-users?*')
    await retry.press('Enter')
    await expect(rows(page).first()).toContainText('moon_80')
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  })

  test('shows no count of rows at its download button', async ({ page }) => {
    const download = page.getByRole('button', { name: 'Download User Data', exact: true })
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/api/telegram-users?*', async (route) => {
      await released
      await route.fulfill({ status: 500, json: { success: false, code: 'INTERNAL', message: 'Internal Server Error!' } })
    })
    const everyone = page.waitForResponse('**/api/telegram-users/count*')
    await search(page, 'moon_80')
    await everyone
    await expect(page.locator('[aria-busy=true]')).not.toHaveCount(0)
    await expect(download).toHaveAccessibleDescription('')
    release()
    await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible()
    await expect(download).toHaveAccessibleDescription('')
  })
})

test('The theme follows the system until one is chosen; the choice is kept and set before the first paint', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/')
  const html = page.locator('html')
  await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await page.getByRole('group', { name: 'Theme' }).getByLabel('Light').check({ force: true })
  await expect(html).toHaveAttribute('data-mantine-color-scheme', 'light')
  await page.reload({ waitUntil: 'commit' })
  await expect(html).toHaveAttribute('data-mantine-color-scheme', 'light')
  await page.getByRole('group', { name: 'Theme' }).getByLabel('System').check({ force: true })
  await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark')
})

test('On a phone the drawer is accessible in both themes', async ({ page, signIn }) => {
  await signIn('admin')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Menu' }).click()
  await expect(page.getByRole('dialog').getByRole('link', { name: 'History' })).toBeVisible()
  await expectAccessible(page)
})

test('A confirmation is accessible in both themes, at both sizes', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Delete', exact: true }).first().click()
  await expect(page.getByRole('alertdialog')).toBeVisible()
  for (const viewport of sizes) {
    await resize(page, viewport)
    await expectAccessible(page)
  }
})

/** Opens Social Tasks and waits until the browser has prefetched the scripts of other pages. */
async function openTasks(page: Page): Promise<void> {
  await page.goto('/social-tasks')
  await expect(page.getByText('Follow us on X')).toBeVisible()
  const links = page.locator('head > link[rel=prefetch]')
  await expect(links).not.toHaveCount(0)
  const isFetched = (link: HTMLLinkElement | SVGElement) =>
    performance.getEntriesByName((link as HTMLLinkElement).href).length > 0
  for (const link of await links.all()) await expect.poll(() => link.evaluate(isFetched)).toBe(true)
}

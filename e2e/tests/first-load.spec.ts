/**
 * Design §9: the size of the JavaScript of a first load, with gzip: all scripts until the page shows its figures and the network is idle,
 * and the library of the charts, which comes after them, by itself.
 * Scripts that the idle browser prefetches for the next page do not count; their requests have the header `Sec-Purpose: prefetch`. Sizes
 * are the same on every machine, so tests can check them; so is which element has the largest paint. Times are measured in bench/.
 */
import { gzipSync } from 'node:zlib'
import type { Locator, Page, Request } from '@playwright/test'
import { expect, field, hold, PASSWORD, test } from '#src/test.ts'

test.use({ ownContext: true }) // a first load has no cache

for (const { name, isSignedIn, ready, budgetBytes } of [
  { name: 'login page', isSignedIn: false, ready: 'Welcome', budgetBytes: 150_000 },
  { name: 'dashboard', isSignedIn: true, ready: 'Top balances', budgetBytes: 180_000 },
]) {
  test(`design §9 the first load of the ${name} needs at most ${budgetBytes / 1000} kB of JavaScript`, async ({
    page,
    signIn,
  }) => {
    if (isSignedIn) await signIn('admin')
    const requests = scriptRequests(page)
    await page.goto('/')
    await expect(page.getByRole('heading', { name: ready })).toBeVisible()
    await page.waitForLoadState('networkidle')
    const { needed } = await sortOut(requests)
    const [charts, first] = [needed.filter(isOfCharts), needed.filter((request) => !isOfCharts(request))]
    expect(first.length).toBeGreaterThan(3)
    expect(await gzippedBytes(first)).toBeLessThanOrEqual(budgetBytes)
    expect(charts).toHaveLength(isSignedIn ? 1 : 0)
    expect(await gzippedBytes(charts)).toBeLessThanOrEqual(CHARTS_BYTES)
  })
}

for (const { path, row } of [
  { path: '/social-tasks', row: 'Follow us on X' },
  { path: '/manage-telegram-users', row: 'Page 1 of' },
])
  test(`design §9 the first load of ${path} needs at most 30 scripts and style sheets`, async ({ page, signIn }) => {
    await signIn('admin')
    const requests = requestsFor(page, /\.(js|css)$/)
    await page.goto(path)
    await expect(page.getByText(row).first()).toBeVisible()
    const { needed } = await sortOut(requests)
    expect(needed.length).toBeGreaterThan(5)
    expect(needed.length).toBeLessThanOrEqual(30)
  })

for (const path of ['/auth/log-in', '/account']) {
  test(`docs/look.md: ${path}, whose texts are Latin, fetches at most 60 kB of fonts, with its first files`, async ({
    page,
    signIn,
  }) => {
    if (path === '/account') await signIn('admin')
    const requests: Request[] = []
    page.on('request', (request) => {
      if (request.resourceType() === 'font') requests.push(request)
    })
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect.poll(() => page.evaluate(() => document.fonts.check("1rem 'Inter Variable'"))).toBe(true)
    const sizes = await Promise.all(requests.map(async (request) => (await bodyOf(request)).length))
    expect(sizes.length).toBeGreaterThan(0)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000)
    await expect(page.locator('head > link[rel=preload][as=font]')).toHaveCount(1)
  })
}

for (const { state, sample } of [
  { state: 'without data', sample: false },
  { state: 'with data', sample: true },
])
  test.describe(`the dashboard ${state}`, () => {
    test.use({ sample })

    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 1100, height: 800 },
      { width: 390, height: 844 },
    ])
      test(`design §9 the largest paint is the heading, which the loading screen already shows in its place, ${viewport.width} px wide`, async ({
        page,
        signIn,
      }) => {
        await page.setViewportSize(viewport)
        await signIn('admin')
        const release = await hold(page, '**/assets/start-*.js')
        await page.goto('/', { waitUntil: 'commit' })
        const early = page.locator('.app-loading-title')
        await expect(early).toBeVisible()
        await expect.poll(() => largestPaint(page)).toBe('Admin Dashboard')
        const place = await textRectangle(early)
        release()
        await expect(page.getByText('Live', { exact: true })).toBeVisible()
        await expect(page.getByText(/^Nothing to show:/)).toBeAttached()
        await expect(early).toHaveCount(0)
        expect(await textRectangle(page.getByRole('heading', { level: 1 }))).toEqual(place)
        expect(await largestPaint(page)).toMatch(/^(on the loading screen|Admin Dashboard)$/)
      })
  })

test('design §9 the scripts of the page after sign-in are prefetched while the user types, and fetched only once', async ({
  page,
  server,
}) => {
  const { email } = await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
  const requests = scriptRequests(page)
  await page.goto('/')
  // The browser prefetches when it is idle. On a busy machine that is later than the idle network.
  const links = page.locator('head > link[rel=prefetch]')
  await expect(links).not.toHaveCount(0)
  const scripts = await links.evaluateAll((all) =>
    all.map((link) => link.getAttribute('href') ?? '').filter((path) => path.endsWith('.js')),
  )
  const aheadOf = async () => (await sortOut(requests)).ahead
  await expect.poll(async () => (await aheadOf()).length).toBe(scripts.length)
  const ahead = await aheadOf()
  await Promise.all(ahead.map(async (request) => (await request.response())?.finished()))
  const paths = ahead.map((request) => new URL(request.url()).pathname)
  for (const name of ['routes', 'shell', 'dashboard-page', 'signed-in'])
    expect(paths).toContainEqual(expect.stringMatching(new RegExp(`^/assets/${name}-`)))

  await field(page, 'Email').fill(email)
  await field(page, 'Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In' }).click()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  const deliveries = await page.evaluate(() => performance.getEntriesByType('resource') as PerformanceResourceTiming[])
  for (const path of paths) {
    const sent = deliveries.filter(({ name, transferSize }) => new URL(name).pathname === path && transferSize > 0)
    expect(sent.length, path).toBe(1)
  }
})

/** Returns the rectangle of an element's text, once the fonts are loaded. */
function textRectangle(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  return element.evaluate(async (node) => {
    await document.fonts.ready
    const range = document.createRange()
    range.selectNodeContents(node)
    const { x, y, width, height } = range.getBoundingClientRect()
    return { x, y, width, height }
  })
}

/** Returns the text of the largest contentful paint so far. An element that was removed has no text any more. */
function largestPaint(page: Page): Promise<string> {
  return page.evaluate(async () => {
    // What is in the page now is painted in the next frame.
    for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
    const observer = new PerformanceObserver(() => {})
    observer.observe({ type: 'largest-contentful-paint', buffered: true })
    const paint = observer.takeRecords().at(-1) as LargestContentfulPaint | undefined
    return paint ? (paint.element?.textContent ?? 'on the loading screen') : 'none'
  })
}

/** The library that draws charts is loaded when their panels are shown; it has a budget of its own. */
const CHARTS_BYTES = 25_000

function isOfCharts(request: Request): boolean {
  return /\/draw-chart-[^/]*\.js$/.test(request.url())
}

async function gzippedBytes(requests: Request[]): Promise<number> {
  const sizes = await Promise.all(requests.map(async (request) => gzipSync(await bodyOf(request), { level: 9 }).length))
  return sizes.reduce((sum, size) => sum + size, 0)
}

function scriptRequests(page: Page): Request[] {
  return requestsFor(page, /\.js$/)
}

/** Collects the page's requests for paths of this form. */
function requestsFor(page: Page, form: RegExp): Request[] {
  const requests: Request[] = []
  page.on('request', (request) => {
    if (form.test(new URL(request.url()).pathname)) requests.push(request)
  })
  return requests
}

/** Separates the requests of this page from those that the browser prefetched for the next one. */
async function sortOut(requests: Request[]): Promise<{ needed: Request[]; ahead: Request[] }> {
  const purposes = await Promise.all(requests.map((request) => request.headerValue('sec-purpose')))
  return {
    needed: requests.filter((_, index) => purposes[index] === null),
    ahead: requests.filter((_, index) => purposes[index] === 'prefetch'),
  }
}

async function bodyOf(request: Request): Promise<Buffer> {
  const response = await request.response()
  if (!response) throw new Error(`${request.url()} was not answered`)
  return response.body()
}

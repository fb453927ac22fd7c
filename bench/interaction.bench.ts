/**
 * How soon the page answers an operator: a change of route with its data cached, and real clicks and keys until the next frame (INP), both
 * on a CPU slowed four times; and a list of 50 rows drawn anew (rows picked) at full speed.
 */
import type { Browser, Locator, Page } from '@playwright/test'
import { sql } from 'kysely'
import { addCount } from '../server/test/activity.ts'
import { type BenchServer, median, openBrowser, percentile, report, startBenchServer } from './harness.ts'

const ROUTE_BUDGET_MS = 100
const RENDER_BUDGET_MS = 16
const INP_BUDGET_MS = 200 // What web.dev calls good. An empty page has no acts to compare these with.
const INP_SHARE = 0.98 // Of fifty acts, INP leaves the slowest out.
const ROUNDS = 7
const KEY_DELAY_MS = 40
const SHOWN_SLOWEST = 12
const USERS = 200

const server = await startBenchServer()
const browser = await openBrowser()
try {
  await sql`insert into users (id, fname, lname, email, user_type, created_at)
    select 'u' || n, 'First' || n, 'Last' || n, 'u' || n || '@gmail.com', 'user', now() - n * interval '1 second'
      from generate_series(1, ${sql.lit(USERS)}) n`.execute(server.database.db)
  await addCount(server.database, { of: 'users', userType: 'user' }, USERS)
  await routes(await signedIn(browser, server))
  await inputs(await signedIn(browser, server))
  await renders(await signedIn(browser, server))
} finally {
  await browser.close()
  await server.stop()
}

async function signedIn(running: Browser, { url, admin }: BenchServer): Promise<Page> {
  const context = await running.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await context.addCookies([{ name: 'session', value: admin.cookie.replace('session=', ''), url }])
  const page = await context.newPage()
  await page.goto(`${url}/manage-users`)
  await page.getByText('Page 1 of').waitFor()
  return page
}

async function routes(page: Page): Promise<void> {
  const places = ['Telegram Users', 'Social Tasks', 'Announcements', 'History', 'Manage Users']
  for (const name of places) await visit(page, name)
  await page.waitForLoadState('networkidle')
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const times = new Map<string, number[]>(places.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round += 1) for (const name of places) times.get(name)?.push(await visit(page, name))
  for (const [name, all] of times) {
    report(`to ${name} on a CPU slowed 4 ×`, { ours: median(all), unit: 'ms', atMost: ROUTE_BUDGET_MS })
  }
}

/** Milliseconds from the click on a link of the menu to the frame that shows its page's heading. */
function visit(page: Page, name: string): Promise<number> {
  return page.evaluate(async (title) => {
    const link = [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label=Main] a')].find(
      ({ textContent }) => textContent === title,
    )
    const started = performance.now()
    link?.click()
    while (document.querySelector('h1')?.textContent !== title) await new Promise(requestAnimationFrame)
    return performance.now() - started
  }, name)
}

/** Clicks and keys as the browser gets them from a person, of every kind that a list knows. */
async function inputs(page: Page): Promise<void> {
  const search = page.getByRole('searchbox', { name: 'Search users' })
  const select = page.getByRole('button', { name: 'Select', exact: true })
  const link = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })
  const allPages = await page.getByText('Page 1 of').innerText()
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await page.evaluate(noteInputs)
  for (let round = 0; round < ROUNDS; round += 1) {
    await click(page, search)
    const term = `First19${round}` // one row's
    await search.pressSequentially(term, { delay: KEY_DELAY_MS })
    await page.getByText('1 user', { exact: true }).waitFor()
    for (const _ of term) await search.press('Backspace', { delay: KEY_DELAY_MS })
    await page.getByText(allPages, { exact: true }).waitFor()
    await click(page, select)
    await page.locator('tbody tr:last-child input[type=checkbox]').waitFor()
    await page.evaluate(() => new Promise(requestAnimationFrame)) // nobody presses a box that is not to be seen yet
    for (const row of [1, 2, 3]) await click(page, page.locator('tbody input[type=checkbox]').nth(row))
    await click(page, page.locator('thead input[type=checkbox]'))
    await click(page, page.getByRole('button', { name: 'Clear', exact: true }))
    await click(page, select)
    for (const name of ['Social Tasks', 'Manage Users']) {
      await click(page, link(name))
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.locator('main [aria-busy=true]').waitFor({ state: 'detached' }) // nobody sees sooner where to go next
    }
    await page.getByText(allPages, { exact: true }).waitFor()
  }
  const noted = await page.evaluate(notedInputs)
  const times = noted.map(({ ms }) => ms)
  const ours = percentile(times, INP_SHARE)
  report('INP: 98 of 100 clicks and keys drawn, on a CPU slowed 4 ×', { ours, unit: 'ms', atMost: INP_BUDGET_MS })
  report('half of the clicks and keys drawn, on a CPU slowed 4 ×', { ours: median(times), unit: 'ms' })
  const slowest = noted.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN_SLOWEST)
  console.log(`${noted.length} clicks and keys, the slowest:`)
  for (const { ms, what } of slowest) console.log(`${ms} ms  ${what}`)
}

/** Presses the mouse where that is. The click of a locator puts listeners of its own into the page, whose time would count. */
async function click({ mouse }: Page, target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded()
  const box = await target.boundingBox()
  if (!box) throw new Error(`There is no ${target.toString()}`)
  await mouse.click(box.x + box.width / 2, box.y + box.height / 2)
}

interface NotedInput {
  ms: number
  /** The kind of event, and on what. */
  what: string
}

interface InputPage {
  /** The longest event of each click or key, by its id. */
  inputTimes: Map<number, NotedInput>
}

function noteInputs(): void {
  const inputTimes: InputPage['inputTimes'] = new Map()
  Object.assign(globalThis, { inputTimes })
  new PerformanceObserver((list) => {
    for (const { interactionId: id, name, duration: ms, target } of list.getEntries() as PerformanceEventTiming[]) {
      const label = target instanceof Element ? (target.getAttribute('aria-label') ?? target.textContent) : ''
      if (id > 0 && ms > (inputTimes.get(id)?.ms ?? -1)) inputTimes.set(id, { ms, what: `${name} ${label.slice(0, 40)}` })
    }
  }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit) // the browser tells of none that is shorter
}

function notedInputs(): NotedInput[] {
  return [...(globalThis as unknown as InputPage).inputTimes.values()]
}

async function renders(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  const first = 'tbody input[type=checkbox]'
  await page.waitForSelector(first)
  const all = 'thead input[type=checkbox]'
  for (const [name, selector] of [
    ['one row picked', first],
    ['50 rows picked', all],
  ] as const) {
    const times: number[] = []
    for (let round = 0; round < 2 * ROUNDS; round += 1) times.push(await press(page, selector))
    report(`a list of 50 rows drawn, ${name}`, { ours: median(times), unit: 'ms', atMost: RENDER_BUDGET_MS })
  }
}

/** Milliseconds of work that a click makes: handlers, React, style and layout. */
function press(page: Page, selector: string): Promise<number> {
  return page.evaluate(async (target) => {
    const element = document.querySelector<HTMLElement>(target)
    await new Promise(requestAnimationFrame)
    const started = performance.now()
    element?.click()
    await Promise.resolve()
    document.body.getBoundingClientRect() // style and layout now, not later
    return performance.now() - started
  }, selector)
}

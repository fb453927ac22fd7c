/**
 * How fast the page reacts to an operator: opening another page whose data is cached, and real clicks and keys until the next frame (INP),
 * both on a CPU slowed four times, and rendering a list of 50 rows again after selecting rows, at full speed. The limit of opening a page is
 * React alone that draws the same elements (drawing.ts).
 */
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from '@playwright/test'
import { sql } from 'kysely'
import { build, type Rolldown } from 'vite'
import { addCount } from '../server/test/activity.ts'
import type { Drawn } from './drawing.ts'
import { type BenchServer, median, openBrowser, percentile, report, startBenchServer } from './measuring.ts'

const ROUTE_BUDGET_MS = 100
const RENDER_BUDGET_MS = 16
const INP_BUDGET_MS = 200 // "good" by https://web.dev/articles/inp. There is no ratio: an empty page has no inputs to compare with.
const INP_SHARE = 0.98 // INP ignores the slowest of every 50 inputs.
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
  const pages: { name: string; elements: Drawn[]; times: number[]; limits: number[] }[] = []
  for (const name of places) {
    await visit(page, name)
    await page.waitForLoadState('networkidle')
    pages.push({ name, elements: await page.evaluate(elementsOfMain), times: [], limits: [] })
  }
  const bare = await withReactAlone(page)
  for (const opened of [page, bare]) await slowDown(opened)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, times } of pages) times.push(await visit(page, name))
    for (const { elements, limits } of pages) limits.push(await bare.evaluate(drawElements, elements))
  }
  for (const { name, times, limits } of pages) {
    const [ours, limit] = [median(times), median(limits)]
    report(`opening ${name}, slowed`, { ours, limit, unit: 'ms', atMost: ROUTE_BUDGET_MS, boundsOurs: true })
  }
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
}

/** Opens a page with the elements and style sheets of this one, and of scripts only drawing.ts. */
async function withReactAlone(page: Page): Promise<Page> {
  const body = await page.evaluate(() => {
    const copy = document.documentElement.cloneNode(true) as HTMLElement
    for (const script of copy.querySelectorAll('script')) script.remove()
    return `<!doctype html>${copy.outerHTML}`
  })
  const bare = await page.context().newPage()
  const url = new URL('/react-alone', page.url()).href
  await bare.route(url, (route) => route.fulfill({ contentType: 'text/html', body }))
  await bare.goto(url)
  await bare.addScriptTag({ content: await bundleOf('./drawing.ts') })
  return bare
}

/** Returns a script for browsers with all that a module imports. */
async function bundleOf(module: string): Promise<string> {
  const [built] = (await build({
    configFile: false,
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { write: false, lib: { entry: fileURLToPath(new URL(module, import.meta.url)), formats: ['iife'], name: 'bare' } },
  })) as Rolldown.RolldownOutput[]
  return built!.output[0].code
}

/** Returns the elements of `main`, for React. Runs in the page. */
function elementsOfMain(): Drawn[] {
  const reactNames: Record<string, string> = { class: 'className', for: 'htmlFor' }
  const styleOf = ({ style }: HTMLElement | SVGElement) =>
    Object.fromEntries(
      Array.from(style, (name) => [
        name.startsWith('--') ? name : name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
        style.getPropertyValue(name),
      ]),
    )
  const toDrawn = (node: Node): Drawn[] => {
    if (node instanceof Text) return [node.data]
    if (!(node instanceof HTMLElement || node instanceof SVGElement)) return []
    const attributes = Object.fromEntries(
      Array.from(node.attributes, ({ name, value }) =>
        name === 'style' ? [name, styleOf(node)] : [reactNames[name] ?? name, value],
      ),
    )
    return [{ tag: node.localName, attributes, children: [...node.childNodes].flatMap(toDrawn) }]
  }
  return [...document.querySelector('main')!.childNodes].flatMap(toDrawn)
}

/** Draws elements in the page of `withReactAlone`. Returns the time in ms until the frame that shows them. */
function drawElements(elements: readonly Drawn[]): Promise<number> {
  return (globalThis as unknown as { draw: (drawn: readonly Drawn[]) => Promise<number> }).draw(elements)
}

/** Returns the time in ms from the click on a link of the menu to the frame that shows the page's heading. */
function visit(page: Page, name: string): Promise<number> {
  return page.evaluate(async (title) => {
    const link = [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label=Main] a')].find(
      ({ textContent }) => textContent === title,
    )
    link?.focus() // as the press of a mouse does before the click
    const started = performance.now()
    link?.click()
    while (document.querySelector('h1')?.textContent !== title) await new Promise(requestAnimationFrame)
    return performance.now() - started
  }, name)
}

/** Measures real clicks and keys, of every kind that a list supports. */
async function inputs(page: Page): Promise<void> {
  const search = page.getByRole('searchbox', { name: 'Search users' })
  const select = page.getByRole('button', { name: 'Select', exact: true })
  const link = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })
  const allPages = await page.getByText('Page 1 of').innerText()
  await slowDown(page)
  await page.evaluate(noteInputs)
  for (let round = 0; round < ROUNDS; round += 1) {
    await click(page, search)
    const term = `First19${round}` // matches one row
    await search.pressSequentially(term, { delay: KEY_DELAY_MS })
    await page.getByText('1 user', { exact: true }).waitFor()
    for (const _ of term) await search.press('Backspace', { delay: KEY_DELAY_MS })
    await page.getByText(allPages, { exact: true }).waitFor()
    await click(page, select)
    await page.locator('tbody tr:last-child input[type=checkbox]').waitFor()
    await page.evaluate(() => new Promise(requestAnimationFrame)) // a person would not click a checkbox before it is visible
    for (const row of [1, 2, 3]) await click(page, page.locator('tbody input[type=checkbox]').nth(row))
    await click(page, page.locator('thead input[type=checkbox]'))
    await click(page, page.getByRole('button', { name: 'Clear', exact: true }))
    await click(page, select)
    for (const name of ['Social Tasks', 'Manage Users']) {
      await click(page, link(name))
      await page.getByRole('heading', { level: 1, name }).waitFor()
      // A person would not click the next link before the page is loaded.
      await page.locator('main [aria-busy=true]').waitFor({ state: 'detached' })
    }
    await page.getByText(allPages, { exact: true }).waitFor()
  }
  const noted = await page.evaluate(notedInputs)
  const times = noted.map(({ ms }) => ms)
  const ours = percentile(times, INP_SHARE)
  report('INP (p98 of clicks and keys), slowed', { ours, unit: 'ms', atMost: INP_BUDGET_MS })
  report('median of clicks and keys, slowed', { ours: median(times), unit: 'ms' })
  const slowest = noted.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN_SLOWEST)
  console.log(`${noted.length} clicks and keys, the slowest:`)
  for (const { ms, what } of slowest) console.log(`${ms} ms  ${what}`)
}

/** Clicks with the mouse at the element. Playwright's locator.click() would add listeners to the page, whose time would count. */
async function click({ mouse }: Page, target: Locator): Promise<void> {
  await target.scrollIntoViewIfNeeded()
  const box = await target.boundingBox()
  if (!box) throw new Error(`There is no ${target.toString()}`)
  await mouse.click(box.x + box.width / 2, box.y + box.height / 2)
}

interface NotedInput {
  ms: number
  /** The kind of event and its target. */
  what: string
}

interface InputPage {
  /** The longest event of each click or key, by interaction id. */
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
  }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit) // the shortest that browsers report
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
    ['one row', first],
    ['all rows', all],
  ] as const) {
    const times: number[] = []
    for (let round = 0; round < 2 * ROUNDS; round += 1) times.push(await press(page, selector))
    report(`rendering a list of 50 rows after selecting ${name}`, { ours: median(times), unit: 'ms', atMost: RENDER_BUDGET_MS })
  }
}

/** Returns the time in ms that a click keeps the main thread busy: handlers, React, style and layout. */
function press(page: Page, selector: string): Promise<number> {
  return page.evaluate(async (target) => {
    const element = document.querySelector<HTMLElement>(target)
    await new Promise(requestAnimationFrame)
    const started = performance.now()
    element?.click()
    await Promise.resolve()
    document.body.getBoundingClientRect() // forces style and layout now
    return performance.now() - started
  }, selector)
}

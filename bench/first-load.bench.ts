/**
 * Design §9: JavaScript of the first load, gzip, and LCP on a CPU slowed four times, of the login page and of the dashboard. The limit is
 * an empty React page, served in the same way; the three are loaded in turn, so that what slows the machine slows all of them.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from '@playwright/test'
import { median, openBrowser, report, ROOT, startBenchServer, startProcess, stopProcess, temporaryDirectory } from './harness.ts'

const ROUNDS = 15
const LCP_AT_MOST = 1.5

interface Load {
  scriptBytes: number
  lcpMs: number
}

const build = await temporaryDirectory()
buildBarePage(build.path)
const bare = await startProcess('bench/bare/page-server.ts', { BENCH_BUILD: build.path })
const server = await startBenchServer()
const browser = await openBrowser()

const empty = { name: 'empty React page', url: bare.url, cookie: '', ready: 'Arcade Console', loads: [] as Load[] }
const pages = [
  { name: 'login page', url: server.url, cookie: '', ready: 'Sign into your account', atMostKb: 150, loads: [] as Load[] },
  {
    name: 'dashboard',
    url: server.url,
    cookie: server.admin.cookie,
    ready: 'Top balances',
    atMostKb: 180,
    loads: [] as Load[],
  },
]
try {
  for (const page of [empty, ...pages]) await load(page) // the first one of each is slower: nothing is compiled yet
  for (let round = 0; round < ROUNDS; round += 1) for (const page of [empty, ...pages]) page.loads.push(await load(page))
  const lcpOf = ({ loads }: { loads: Load[] }) => median(loads.map(({ lcpMs }) => lcpMs))
  for (const page of pages) {
    const { name, atMostKb, loads } = page
    report(`JavaScript of the ${name}, gzip`, {
      ours: median(loads.map(({ scriptBytes }) => scriptBytes)) / 1000,
      unit: 'kB',
      atMost: atMostKb,
    })
    report(`LCP of the ${name} on a CPU slowed 4 ×, of an empty React page's`, {
      ours: lcpOf(page),
      limit: lcpOf(empty),
      unit: 'ms',
      atMost: LCP_AT_MOST,
    })
  }
  for (const { name, loads } of [empty, ...pages])
    console.log(`${name}: ${loads.map(({ lcpMs }) => lcpMs.toFixed(0)).join(', ')} ms`)
} finally {
  await browser.close()
  await server.stop()
  await stopProcess(bare.child)
  await build.remove()
}

function buildBarePage(outDir: string): void {
  const args = [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', join(ROOT, 'bench/bare/page')]
  const { status } = spawnSync(process.execPath, [...args, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the empty React page could not be built')
}

/** The page as somebody sees it who was never here: nothing is cached. */
async function load({ url, cookie, ready }: { url: string; cookie: string; ready: string }): Promise<Load> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  if (cookie !== '') await context.addCookies([{ name: 'session', value: cookie.replace('session=', ''), url }])
  const page = await context.newPage()
  const sizes: Promise<number>[] = []
  page.on('response', (response) => {
    const isAhead = response.request().headers()['sec-purpose'] === 'prefetch' // for the page after this one
    if (isAhead || !/javascript/.test(response.headers()['content-type'] ?? '')) return
    sizes.push(response.body().then((body) => gzipSync(body, { level: 9 }).length))
  })
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await page.goto(url, { waitUntil: 'networkidle' }) // to look for a text would run scripts of the tool in the page meanwhile
  await page.getByText(ready).first().waitFor()
  const scriptBytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  const lcpMs = await largestContentfulPaint(page)
  await context.close()
  return { scriptBytes, lcpMs }
}

function largestContentfulPaint(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? Number.NaN)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        })
      }),
  )
}

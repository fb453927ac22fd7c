/**
 * Playwright's `test` with the console's fixtures: each worker has its own server and database (on a Citus cluster if CITUS_URL is set),
 * each test starts with fresh data, and any message in the browser's console fails it. The tests of a worker share a browser context.
 */
import type { Role } from '@arcade/contract/team/fields'
import { test as base, expect, type Locator, type Page, type Request } from '@playwright/test'
import { citusUrl, createDistributedDatabase, dropClusterDatabase } from '../../server/test/citus.ts'
import { type ConsoleServer, PASSWORD, type Person, SAMPLE, startConsoleServer } from '../../server/test/console-server.ts'
import { SharedContext } from './shared-context.ts'

export { type ConsoleServer, expect, PASSWORD }

interface TestFixtures {
  /** Whether the console has the sample data. `test.use({ sample: false })` gives an empty console. */
  sample: boolean
  /** Whether a test has a browser context of its own: for what starts with an empty cache, sets the clock, or changes the context for good. */
  ownContext: boolean
  /** Signs a person in by cookie, without the form: a user, an admin with a role, or an owner. */
  signIn: (as: 'admin' | 'user' | Role) => Promise<Person>
  /** Messages of the browser's console that a test expects; any other one fails it. */
  expectedNoise: { patterns: RegExp[] }
}

export interface WorkerFixtures {
  server: ConsoleServer
  sharedContext: SharedContext
  /** The directory of the sample data, which screens.config.ts can set. */
  sampleDirectory: string
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  sampleDirectory: [SAMPLE, { option: true, scope: 'worker' }],
  server: [
    async ({ sampleDirectory }, use) => {
      const name = `arcade_e2e_${process.pid}`
      const env: Record<string, string> = citusUrl ? { DATABASE_URL: await createDistributedDatabase(citusUrl, name) } : {}
      const server = await startConsoleServer(env, { sample: sampleDirectory })
      await use(server)
      await server.stop()
      if (citusUrl) await dropClusterDatabase(citusUrl, name)
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  sharedContext: [
    async ({ browser }, use) => {
      const shared = new SharedContext(browser)
      await use(shared)
      await shared.close()
    },
    { scope: 'worker' },
  ],
  sample: [true, { option: true }],
  ownContext: [false, { option: true }],
  expectedNoise: [{ patterns: [] }, { option: true }],
  baseURL: async ({ server }, use) => use(server.url),
  context: async (
    {
      browser,
      sharedContext,
      ownContext,
      baseURL,
      viewport,
      hasTouch,
      isMobile,
      locale,
      timezoneId,
      colorScheme,
      userAgent,
      contextOptions,
    },
    use,
    testInfo,
  ) => {
    if (ownContext) {
      const context = await browser.newContext()
      await use(context)
      await context.close()
      return
    }
    const options = { viewport, hasTouch, isMobile, locale, timezoneId, colorScheme, userAgent, contextOptions }
    await use(await sharedContext.open(`${baseURL}`, JSON.stringify(options)))
    await (testInfo.status === testInfo.expectedStatus ? sharedContext.clean() : sharedContext.leaveAsItIs())
  },
  page: async ({ page, server, sample, expectedNoise }, use, testInfo) => {
    await server.reset({ sample })
    const noise: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) noise.push(message.text())
    })
    page.on('pageerror', (error) => noise.push(String(error)))
    const allAnswered = watchRequests(page)
    await use(page)
    if (testInfo.status === testInfo.expectedStatus) await allAnswered()
    expect(noise.filter((line) => !expectedNoise.patterns.some((pattern) => pattern.test(line)))).toEqual([])
  },
  signIn: async ({ context, server, page: _page }, use) => {
    await use(async (as) => {
      const names = as === 'user' ? { fname: 'Uli', lname: 'User' } : { fname: 'Ada', lname: 'Admin' }
      const type = as === 'user' ? { userType: as } : { userType: 'admin' as const, ...(as !== 'admin' && { role: as }) }
      const person = await server.addPerson({ ...names, email: `${as}@gmail.com`, ...type })
      await context.addCookies([{ name: 'session', value: person.token, url: server.url, httpOnly: true, sameSite: 'Strict' }])
      return person
    })
  },
})

/**
 * Watches the page's requests, except streams of events, which stay open. The returned function waits until all are answered, so that
 * what a test's last click began ends with this test and does not read the data of the next one.
 */
function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  let notify = (): void => undefined
  const end = (request: Request): void => {
    open.delete(request)
    notify()
  }
  page.on('request', (request) => request.resourceType() !== 'eventsource' && open.add(request))
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  page.on('close', () => {
    open.clear()
    notify()
  })
  return async () => {
    while (open.size > 0) await new Promise<void>((resolve) => (notify = resolve))
  }
}

/** Removes the cookies, the session's among them. Leaves the page first: a request that it makes without them would be refused. */
export async function forgetSession(page: Page): Promise<void> {
  await page.goto('about:blank')
  await page.context().clearCookies()
}

/** Holds requests to `url` until the returned function is called. */
export async function hold(page: Page, url: string): Promise<() => void> {
  const { promise: released, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await released
    await route.continue()
  })
  return resolve
}

/**
 * Ends the connection of the page's context, once the files that the page prefetches are loaded: those of toasts and questions, without
 * which it could say nothing about the failures that follow.
 */
export async function loseConnection(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const ahead = [...document.querySelectorAll<HTMLLinkElement>('link[rel=prefetch]')]
    const loaded = new Set(performance.getEntriesByType('resource').map(({ name }) => name))
    return ahead.length > 0 && ahead.every(({ href }) => loaded.has(href))
  })
  await page.context().setOffline(true)
}

/** Returns the toast with this text. */
export function toast(page: Page, text: string): Locator {
  return page.getByRole('alert').filter({ hasText: text })
}

/** Returns a link or button by its name in the specification. */
export function control(scope: Page | Locator, name: string | RegExp): Locator {
  return scope.getByRole('button', { name, exact: true }).or(scope.getByRole('link', { name, exact: true }))
}

/** Returns a form's field by its label in the specification. */
export function field(scope: Page | Locator, label: string): Locator {
  return scope.getByLabel(label, { exact: true })
}

/** Expects the message at the field, also for assistive technology. */
export async function expectError(page: Page, label: string, message: string): Promise<void> {
  await expect(page.getByText(message, { exact: true }).first()).toBeVisible()
  await expect(field(page, label)).toHaveAccessibleDescription(message)
}

/**
 * A browser context that the tests of a worker share. Each test gets new pages and no cookies, storage, permissions or routes of an
 * earlier one. The caches stay, and so does the process of the pages, which Chromium keeps for a site (`--process-per-site`) as long as
 * one page of it is open: the one that is kept here. So a test does not load and compile the whole app again.
 */
import type { Browser, BrowserContext, Page } from '@playwright/test'

const CLEARED_AT = '/favicon.svg' // a document of the console's origin without scripts

export class SharedContext {
  readonly #browser: Browser
  #open: { context: BrowserContext; kept: Page; key: string } | undefined

  constructor(browser: Browser) {
    this.#browser = browser
  }

  /** Returns the context. `options` describes the options of the test: other ones than those of the test before need another context. */
  async open(baseURL: string, options: string): Promise<BrowserContext> {
    const key = baseURL + options
    if (this.#open?.key !== key) {
      await this.close()
      const context = await this.#browser.newContext() // with the options of the test
      const kept = await context.newPage()
      await kept.goto(baseURL + CLEARED_AT)
      const refuse = () =>
        Promise.reject(new Error('Say test.use({ ownContext: true }): this would change the context of other tests.'))
      Object.assign(context, { addInitScript: refuse, exposeBinding: refuse, route: refuse, setExtraHTTPHeaders: refuse })
      Object.assign(context.clock, { install: refuse, setFixedTime: refuse, setSystemTime: refuse })
      this.#open = { context, kept, key }
    }
    return this.#open.context
  }

  /** Ends what a test has left. */
  async clean(): Promise<void> {
    if (!this.#open) return
    const { context, kept } = this.#open
    const pages = context.pages().filter((page) => page !== kept)
    await Promise.all(pages.map((page) => page.close()))
    await Promise.all([context.setOffline(false), context.clearPermissions(), context.clearCookies()])
    await kept.evaluate(() => localStorage.clear())
  }

  /** After a failure: the pages stay for Playwright's report, which shows the first one. Playwright then ends the worker. */
  async leaveAsItIs(): Promise<void> {
    await this.#open?.kept.close()
  }

  async close(): Promise<void> {
    await this.#open?.context.close()
    this.#open = undefined
  }
}

/** Another admin, who works at the same time as the page's admin: by calls of the API, or in a second browser. */
import type { Browser, Page } from '@playwright/test'
import type { ConsoleServer } from './test.ts'

interface OtherAdmin {
  /** Makes a call of the API. @throws Error if it is refused */
  call: (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => Promise<void>
  open: (browser: Browser, path: string) => Promise<Page>
}

/** @param name first and last name; the first name is also the local part of the e-mail address */
export async function otherAdmin(server: ConsoleServer, name = 'Bo Boss'): Promise<OtherAdmin> {
  const [fname = '', lname = ''] = name.split(' ')
  const email = `${fname.toLowerCase()}@gmail.com`
  const { token } = await server.addPerson({ fname, lname, email, userType: 'admin' })
  return {
    async call(method, path, body) {
      const headers = { cookie: `session=${token}`, origin: server.url, 'content-type': 'application/json' }
      const answer = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
    },
    async open(browser, path) {
      const context = await browser.newContext({ baseURL: server.url })
      await context.addCookies([{ name: 'session', value: token, url: server.url, httpOnly: true, sameSite: 'Strict' }])
      const page = await context.newPage()
      await page.goto(path)
      return page
    },
  }
}

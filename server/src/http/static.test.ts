import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'
import { loadWebApp } from './static.ts'

const INDEX =
  '<head><title>Console</title></head><main class="app-loading"></main><script type="application/json" id="session">"the session"</script>'

let build = ''
let app: TestApp
let admin: Client

beforeAll(async () => {
  build = await mkdtemp(join(tmpdir(), 'arcade-test-web-'))
  await mkdir(join(build, 'assets'))
  await writeFile(join(build, 'index.html'), INDEX)
  await writeFile(join(build, 'assets', 'main-abc.js'), 'export {}')
  const firstPages = {
    signedIn: ['/assets/letters-abc.woff2', '/assets/shell-abc.css', '/assets/shell-abc.js'],
    signedOut: ['/assets/art-abc.svg', '/assets/login-abc.js'],
    later: ['/assets/shell-abc.css', '/assets/toasts-abc.js'],
  }
  await writeFile(join(build, 'first-pages.json'), JSON.stringify(firstPages))
})

afterAll(() => rm(build, { recursive: true }))

/** What a browser sends if the address was typed or came from a page of this site. */
const fromHere = { 'sec-fetch-site': 'none' }

async function page(path: string, headers: Record<string, string> = {}): Promise<{ response: Response; session: unknown }> {
  const response = await app.fetch(path, { headers })
  const html = await response.text()
  return { response, session: JSON.parse(/id="session">(.*)<\/script>$/.exec(html)?.[1] ?? '"no session"') }
}

describe('the web app', () => {
  test('every page contains the answer of GET /api/session, and is never stored', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    for (const path of ['/', '/admin', '/register?setup=x', '/index.html', '/no/such/page']) {
      const { response, session } = await page(path, admin.headers)
      expect(response.status, path).toBe(200)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(session).toEqual((await admin.call('GET', '/api/session')).body)
      expect((await page(path, fromHere)).session).toEqual({
        user: null,
        registrationEmailHost: 'gmail.com',
        hasAdmin: true,
        canResetByMail: false,
        signInService: null,
      })
    }
  })

  test('a page that was opened from another site without a cookie asks for the session itself', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    const crossSite = { 'sec-fetch-site': 'cross-site' }
    for (const headers of [crossSite, { ...crossSite, cookie: 'theme=dark' }, {}])
      expect((await page('/history', headers)).session).toBeNull()
    expect((await page('/history', { ...crossSite, ...admin.headers })).session).toMatchObject({ user: { id: admin.id } })
  })

  test('a page links the files that its visitor needs at once', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    const linksOf = async (headers: Record<string, string>) =>
      (await (await app.fetch('/', { headers })).text()).match(/<link rel="\w+" [^>]+"/g)
    expect(await linksOf(admin.headers)).toEqual([
      '<link rel="preload" as="font" crossorigin href="/assets/letters-abc.woff2"',
      '<link rel="stylesheet" crossorigin href="/assets/shell-abc.css"',
      '<link rel="modulepreload" crossorigin href="/assets/shell-abc.js"',
      '<link rel="prefetch" crossorigin href="/assets/toasts-abc.js"',
    ])
    expect(await linksOf({})).toEqual([
      '<link rel="preload" as="image" href="/assets/art-abc.svg"',
      '<link rel="modulepreload" crossorigin href="/assets/login-abc.js"',
      '<link rel="prefetch" crossorigin href="/assets/letters-abc.woff2"',
      '<link rel="prefetch" crossorigin href="/assets/shell-abc.css"',
      '<link rel="prefetch" crossorigin href="/assets/shell-abc.js"',
      '<link rel="prefetch" crossorigin href="/assets/toasts-abc.js"',
    ])
    expect(await (await app.fetch('/first-pages.json')).text()).toContain('<title>Console</title>')
  })

  test('the loading screen shows the title of the page that is loading', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    const user = await app.signUp('user')
    const loadingOf = async (path: string, headers: Record<string, string> = {}) =>
      /<main .*<\/main>/.exec(await (await app.fetch(path, { headers })).text())?.[0]
    const title = (text: string) => `<main class="app-loading"><p class="app-loading-title" aria-hidden="true">${text}</p></main>`
    expect(await loadingOf('/admin', admin.headers)).toBe(title('Admin Dashboard'))
    expect(await loadingOf('/', user.headers)).toBe(title('User Dashboard'))
    expect(await loadingOf('/history', fromHere)).toBe('<main class="app-loading" data-for="login"></main>')
    for (const path of ['/register', '/set-password', '/Register/'])
      expect(await loadingOf(path, fromHere)).toBe('<main class="app-loading"></main>')
    expect(await loadingOf('/history', admin.headers)).toBe('<main class="app-loading"></main>')
    expect(await loadingOf('/', { authorization: 'Bearer nonsense' })).toBe('<main class="app-loading"></main>')
  })

  test('a name cannot close the script element that contains it', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    const fname = '</script><script>alert(1)</script>'
    await app.database.db.updateTable('users').set({ fname }).where('id', '=', admin.id).execute()
    app.sessions.forgetUser(admin.id)
    const html = await (await app.fetch('/', { headers: admin.headers })).text()
    expect(html.match(/<script/g)).toHaveLength(1)
    expect((await page('/', admin.headers)).session).toMatchObject({ user: { fname } })
  })

  test('with a bad token the page asks for the session itself', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    expect((await page('/', { authorization: 'Bearer nonsense' })).session).toBeNull()
  })

  test('files are cached by the browser, and a missing file is not answered with the page', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    const file = await app.fetch('/assets/main-abc.js')
    expect(await file.text()).toBe('export {}')
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect((await app.fetch('/assets/main-old.js')).status).toBe(404)
    expect((await app.fetch('/api/no-such-call')).status).toBe(404)
    expect((await app.fetch('/', { method: 'POST' })).status).toBe(404)
  })

  test('a folder without a build is refused', async () => {
    await expect(loadWebApp(join(build, 'assets'))).rejects.toThrow('there is no built web app')
  })
})

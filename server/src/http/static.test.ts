import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, type TestApp, testApp } from '#src/testing/test-app.ts'
import { loadWebApp } from './static.ts'

const INDEX = '<head><title>Console</title></head><script type="application/json" id="session">"the session"</script>'

let build = ''
let app: TestApp
let admin: Client

beforeAll(async () => {
  build = await mkdtemp(join(tmpdir(), 'arcade-test-web-'))
  await mkdir(join(build, 'assets'))
  await writeFile(join(build, 'index.html'), INDEX)
  await writeFile(join(build, 'assets', 'main-abc.js'), 'export {}')
  const firstPages = { signedIn: ['/assets/shell-abc.css', '/assets/shell-abc.js'], signedOut: ['/assets/login-abc.js'] }
  await writeFile(join(build, 'first-pages.json'), JSON.stringify(firstPages))
})

afterAll(() => rm(build, { recursive: true }))

async function page(path: string, headers: Record<string, string> = {}): Promise<{ response: Response; session: unknown }> {
  const response = await app.fetch(path, { headers })
  const html = await response.text()
  return { response, session: JSON.parse(/id="session">(.*)<\/script>$/.exec(html)?.[1] ?? '"no session"') }
}

describe('the web app', () => {
  test('every page carries what GET /api/session answers, and is never stored', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    for (const path of ['/', '/admin', '/register?setup=x', '/index.html', '/no/such/page']) {
      const { response, session } = await page(path, admin.headers)
      expect(response.status, path).toBe(200)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(session).toEqual((await admin.call('GET', '/api/session')).body)
      expect((await page(path)).session).toEqual({ user: null, registrationEmailHost: 'gmail.com', hasAdmin: true })
    }
  })

  test('a page names the files that whoever asks will need at once', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    const linksOf = async (headers: Record<string, string>) =>
      (await (await app.fetch('/', { headers })).text()).match(/<link rel="\w+" crossorigin href="[^"]+"/g)
    expect(await linksOf(admin.headers)).toEqual([
      '<link rel="stylesheet" crossorigin href="/assets/shell-abc.css"',
      '<link rel="modulepreload" crossorigin href="/assets/shell-abc.js"',
    ])
    expect(await linksOf({})).toEqual([
      '<link rel="modulepreload" crossorigin href="/assets/login-abc.js"',
      '<link rel="prefetch" crossorigin href="/assets/shell-abc.css"',
      '<link rel="prefetch" crossorigin href="/assets/shell-abc.js"',
    ])
    expect(await (await app.fetch('/first-pages.json')).text()).toContain('<title>Console</title>')
  })

  test('a name cannot end the script element it stands in', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    admin = await app.signUp('admin')
    const fname = '</script><script>alert(1)</script>'
    await app.database.db.updateTable('users').set({ fname }).where('id', '=', admin.id).execute()
    app.sessions.changed(admin.id)
    const html = await (await app.fetch('/', { headers: admin.headers })).text()
    expect(html.match(/<script/g)).toHaveLength(1)
    expect((await page('/', admin.headers)).session).toMatchObject({ user: { fname } })
  })

  test('a bad token leaves the page to ask by itself', async () => {
    app = await testApp({ webApp: await loadWebApp(build) })
    expect((await page('/', { authorization: 'Bearer nonsense' })).session).toBeNull()
  })

  test('files are kept by the browser, missing ones are not the page', async () => {
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

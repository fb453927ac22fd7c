/** What all calls have in common: origin, bodies, hostile input, headers, the error envelope (security.md). */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { serve } from '@hono/node-server'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CallMeta } from '@arcade/contract/call'
import { contract } from '@arcade/contract/contract'
import { diskStore } from '#src/files/disk.ts'
import { testApp } from '#test/test-app.ts'
import { pathPattern, listRoutes } from './routes.ts'

const registration = { fname: 'A', lname: 'B', email: 'a@gmail.com', password: 'secret1', confirmPassword: 'secret1' }
const writing = listRoutes(contract).filter((route) => route.method !== 'GET' && route.method !== 'DELETE')

function isForPeople({ meta }: { meta: CallMeta }): boolean {
  return meta.access.some((one) => one === 'guest' || one === 'user' || one === 'admin')
}

describe('security: origin', () => {
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://console.localhost.evil.example' },
  ]
  test.each(foreign)('a state change with %o is refused before anything happens', async (headers) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const victim = await app.signUp('user')
    const answer = await admin.call('DELETE', `/removeUser/${victim.id}`, undefined, { host: 'console.localhost', ...headers })
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ success: false, status: 'failed', code: 'CROSS_ORIGIN' })
    expect((await victim.call('GET', '/api/session')).body.user).not.toBeNull()
  })

  test.each(foreign)('a download with %o is refused before anything is written', async (headers) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    for (const path of ['/downloadUsersData', '/downloadTelegramUsersData']) {
      const answer = await admin.call('GET', path, undefined, { host: 'console.localhost', ...headers })
      expect([answer.status, answer.body.code], path).toEqual([403, 'CROSS_ORIGIN'])
    }
    for (const own of [{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }, {}]) {
      const answer = await app.fetch('/downloadUsersData', { headers: { ...admin.headers, ...own } as Record<string, string> })
      expect(answer.status).toBe(200)
      await answer.arrayBuffer()
    }
  })

  test('our own pages and programs are accepted', async () => {
    const app = await testApp()
    const own: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin' },
      { origin: 'http://console.localhost', host: 'console.localhost' },
      {},
    ]
    for (const headers of own) {
      const admin = await app.signUp('admin')
      const victim = await app.signUp('user')
      expect((await admin.call('DELETE', `/removeUser/${victim.id}`, undefined, headers)).status).toBe(200)
    }
  })

  test('PUBLIC_URL is the only accepted origin if it is set', async () => {
    const app = await testApp({ publicOrigin: 'https://console.example.org' })
    const post = (origin: string) => app.guest.call('POST', '/api/register', registration, { origin, host: 'console.localhost' })
    expect((await post('http://console.localhost')).body.code).toBe('CROSS_ORIGIN')
    const accepted = await post('https://console.example.org')
    expect(accepted.status).toBe(200)
    expect(accepted.headers.getSetCookie()[0]).toMatch(
      /^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect(accepted.headers.get('strict-transport-security')).toContain('max-age')
  })
})

describe('security: input', () => {
  const hostile: [string, string][] = [
    ['U+0000', JSON.stringify({ ...registration, fname: 'a\0b' })],
    [
      'a lone surrogate',
      '{"fname":"\\ud800","lname":"B","email":"a@gmail.com","password":"secret1","confirmPassword":"secret1"}',
    ],
    ['a lone surrogate as a key', '{"\\ud800":1}'],
    ['deep nesting', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['deep nesting in a field', `{"fname":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['__proto__', '{"__proto__":{"userType":"admin"}}'],
    ['constructor', '{"constructor":{"prototype":{"a":1}}}'],
    ['a number out of range', '{"fname":1e999,"version":1e999}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a bare string', '"x"'],
    ['invalid JSON', '{"fname":'],
    ['nothing', ''],
    ['unknown fields', JSON.stringify({ ...registration, userType: 'admin', id: 'x' })],
    ['wrong types', JSON.stringify({ fname: {}, lname: [], email: 1, password: true, confirmPassword: null })],
  ]
  const cases = writing
    .filter((route) => route.inputSchema)
    .flatMap((route) =>
      hostile.map(([name, body]) => ({
        name,
        body,
        route: route.name,
        path: route.path,
        method: route.method,
        isOfBots: !isForPeople(route),
      })),
    )

  test.each(cases)('$route refuses $name with a clear 4xx', async ({ body, path, method, isOfBots }) => {
    const app = await testApp()
    const caller = isOfBots ? await app.bot() : await app.signUp('admin')
    const answer = await caller.call(method, path.replaceAll(/\{\w+\}/g, 'x'), body)
    expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.body.message).toBeTruthy()
  })

  test('invalid UTF-8 is refused', async () => {
    const app = await testApp()
    const body = Buffer.concat([Buffer.from('{"email":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const response = await app.fetch('/api/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(response.status).toBe(400)
  })

  test.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'application/json; profile=x'])(
    'content-type %j is JSON',
    async (type) => {
      const app = await testApp()
      const answer = await app.guest.call('POST', '/api/session', '{"email":"a@gmail.com","password":"secret1"}', {
        'content-type': type,
      })
      expect(answer.status).toBe(401)
    },
  )

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
    'application/json; charset=utf-16',
    'application/json; x=y ;Charset="utf-16"',
    'application/json; charset=latin1',
  ])('content-type %j is refused', async (type) => {
    const app = await testApp()
    const answer = await app.guest.call('POST', '/api/session', '{"email":"a@gmail.com","password":"secret1"}', {
      'content-type': type,
    })
    expect(answer.status).toBe(415)
  })

  test('a compressed body is refused', async () => {
    const app = await testApp()
    const answer = await app.guest.call('POST', '/api/session', '{"email":"a@gmail.com","password":"secret1"}', {
      'content-encoding': 'gzip',
    })
    expect([answer.status, answer.body.message]).toEqual([415, 'The request must not be compressed.'])
  })

  test('the body can be left out only where the path contains everything', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { body } = await admin.call('POST', '/api/bot-tokens', { name: 'game' })
    expect((await admin.call('POST', `/api/bot-tokens/${body.id}/rotate`)).status).toBe(200)
    expect((await admin.call('POST', '/api/bot-tokens')).body.code).toBe('INVALID_INPUT')
  })

  test('10 MB are refused, announced or not, after reading no more than the limit', async () => {
    const app = await testApp()
    const big = JSON.stringify({ email: 'a@gmail.com', password: 'x'.repeat(10_000_000) })
    expect((await app.guest.call('POST', '/api/session', big)).status).toBe(413)
    let pulled = 0
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(16 * 1024).fill(32))
      },
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: endless, duplex: 'half' } as RequestInit
    expect((await app.fetch('/api/session', init)).status).toBe(413)
    expect(pulled).toBeLessThan(16)
  })

  test.each(['page=0', 'page=-1', 'page=1e99', 'page=x', 'page=1&page=2', 'page=1.5', 'other=1', 'page=%00', 'page=%ED%A0%80'])(
    'a list refuses ?%s',
    async (query) => {
      const app = await testApp()
      const admin = await app.signUp('admin')
      expect((await admin.call('GET', `/api/users?${query}`)).status).toBe(400)
    },
  )

  test.each(['%ff', '%C3', '%c3%28', '%zz', '%'])(
    'a search such as %j, which is no text, is refused like a path',
    async (search) => {
      const app = await testApp()
      const admin = await app.signUp('admin')
      const refused = { status: 400, body: { code: 'INVALID_INPUT', message: 'The request is not valid.' } }
      expect(await admin.call('GET', `/api/users/${search}`)).toMatchObject(refused)
      expect(await admin.call('GET', `/api/users?search=${search}`)).toMatchObject(refused)
      expect(await admin.call('GET', `/api/users?${search}=1`)).toMatchObject(refused)
      expect((await admin.call('GET', '/api/users?search=100%25+%C3%A9+%EF%BF%BD+é')).status).toBe(200)
    },
  )

  test.each(['/api/users/%00', '/api/users/%ff', '/api/users/%', `/api/users/${'x'.repeat(5000)}`])(
    'a path such as %.20s is refused',
    async (path) => {
      const app = await testApp()
      const admin = await app.signUp('admin')
      expect([400, 404]).toContain((await admin.call('GET', path)).status)
    },
  )
})

describe('design §8 ids that look like a fixed part of a path', () => {
  const routes = listRoutes(contract)
  const clashes = routes
    .filter(({ path }) => !path.includes('{'))
    .flatMap((fixed) =>
      routes
        .filter(({ path }) => path.includes('{') && pathPattern(path).test(fixed.path))
        .map((withId) => ({ fixed: fixed.path, method: withId.method, path: withId.path, fixedMethod: fixed.method })),
    )

  test.each(clashes.filter(({ method, fixedMethod }) => method !== fixedMethod))(
    '$method $fixed goes to $path',
    async ({ method, fixed }) => {
      const app = await testApp()
      expect((await app.guest.call(method, fixed, method === 'GET' ? undefined : {})).body.code).toBe('SIGNED_OUT')
    },
  )

  test('a fixed path hides only ids that cannot exist', () => {
    const hidden = clashes.filter(({ method, fixedMethod }) => method === fixedMethod).map(({ fixed, path }) => [fixed, path])
    expect(hidden).toEqual([['/api/telegram-users/count', '/api/telegram-users/{userId}']]) // a player's id is a number
  })

  test.each(['remove', 'user-type', 'a/b', 'a%2Fb', '%', '...', ' ü?#&', "'"])(
    'the user %j can be read, changed and removed',
    async (id) => {
      const app = await testApp()
      const admin = await app.signUp('admin')
      const user = { id, fname: 'A', lname: 'B', email: 'odd@gmail.com', user_type: 'user' as const }
      await app.database.db.insertInto('users').values(user).execute()
      const address = `/api/users/${encodeURIComponent(id)}`
      expect((await admin.call('GET', address)).body).toMatchObject({ id, fname: 'A' })
      expect((await admin.call('PATCH', address, { fname: 'C', lname: 'D' })).status).toBe(200)
      expect((await admin.call('GET', address)).body).toMatchObject({ id, fname: 'C' })
      expect((await admin.call('DELETE', `/removeUser/${encodeURIComponent(id)}`)).status).toBe(200)
      expect((await admin.call('GET', address)).status).toBe(404)
    },
  )
})

describe('security: connections', () => {
  test('a client that disconnects in the middle of a body is not reported as an error of the database', async () => {
    const lines: string[] = []
    const app = await testApp({ log: pino({ level: 'info' }, { write: (line) => void lines.push(line) }) })
    const body = new ReadableStream({
      pull: (controller) => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })),
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' } as RequestInit
    const answer = await app.fetch('/api/session', init)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', message: 'The request broke off.' })
    expect(lines).toEqual([])
  })

  test('two Host headers are refused, because a proxy and the server could each use another one', async () => {
    const app = await testApp()
    const server = serve({ fetch: app.nodeFetch, port: 0, hostname: '127.0.0.1' })
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const statusWith = async (headers: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET /healthz HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
      return (await text(socket)).slice(0, 12)
    }
    expect(await statusWith('Host: a\r\n')).toBe('HTTP/1.1 200')
    expect(await statusWith('Host: a\r\nHost: b\r\n')).toBe('HTTP/1.1 400')
    expect(await statusWith('Host: a\r\nhOST: a\r\n')).toBe('HTTP/1.1 400')
  })
})

describe('security: browser', () => {
  test('every answer has the security headers, and private answers are not stored', async () => {
    const app = await testApp()
    for (const path of ['/api/session', '/api/users', '/nothing', '/healthz', '/api/docs']) {
      const { headers } = await app.fetch(path)
      expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'")
      expect(headers.get('content-security-policy')).not.toMatch(/script-src[^;]*unsafe/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('cache-control')).toBe(path === '/api/docs' ? 'no-cache' : 'no-store')
    }
  })
})

describe('§7 the API describes itself', () => {
  test('/api/openapi.json lists every call with its access', async () => {
    const app = await testApp()
    const { body } = await app.guest.call('GET', '/api/openapi.json')
    for (const route of listRoutes(contract)) {
      expect(body.paths[route.path][route.method.toLowerCase()]).toMatchObject({
        operationId: route.name,
        'x-access': route.meta.access,
      })
    }
  })

  test('/api/docs can be read', async () => {
    const app = await testApp()
    const page = await (await app.fetch('/api/docs')).text()
    expect(page).toContain('DELETE /removeUser/{id}')
  })

  test.each(['/api/openapi.json', '/api/docs'])('security: %s is made once, compressed, and not sent again', async (path) => {
    const app = await testApp()
    const first = await app.fetch(path, { headers: { 'accept-encoding': 'gzip' } })
    expect(first.headers.get('content-encoding')).toBe('gzip')
    const etag = first.headers.get('etag')!
    expect((await app.fetch(path)).headers.get('etag')).toBe(etag)
    const again = await app.fetch(path, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  test('HEAD is answered like GET, without the body', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { status, headers } = await app.fetch('/api/users', { method: 'HEAD', headers: admin.headers })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
  })

  test('security: a search for a combining mark alone finds nothing, also in bulk calls', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await app.signUp('user')
    for (const path of ['/api/users', '/api/telegram-users', '/api/social-tasks', '/api/announcements'])
      expect((await admin.call('GET', `${path}?search=%CC%81`)).body, path).toMatchObject({ total: 0 })
    const target = { filter: { search: '\u0301' } }
    expect((await admin.call('POST', '/api/users/remove', { target, dryRun: true })).body).toMatchObject({ affected: 0 })
  })

  test('/healthz and /readyz answer', async () => {
    const app = await testApp()
    expect((await app.guest.call('GET', '/healthz')).status).toBe(200)
    expect((await app.guest.call('GET', '/readyz')).status).toBe(200)
  })

  test('design §8 a server that stops first reports it at /readyz, and keeps no connection for another request', async () => {
    const app = await testApp()
    expect((await app.guest.call('GET', '/healthz')).headers.get('connection')).toBeNull()
    await app.readiness.beginStop() // without waiting, because nobody polls /readyz here
    const { status, headers } = await app.guest.call('GET', '/readyz')
    expect([status, headers.get('connection')]).toEqual([503, 'close'])
    expect((await app.guest.call('GET', '/healthz')).headers.get('connection')).toBe('close')
  })

  test('/readyz fails while files cannot be stored', async () => {
    const app = await testApp({ fileStore: diskStore('/dev/null/files') })
    expect((await app.guest.call('GET', '/readyz')).status).toBe(503)
    expect((await app.guest.call('GET', '/healthz')).status).toBe(200)
  })
})

/**
 * What a guest's request costs the thread that answers all requests (security.md, Crash): CPU time, in units of a piece of work that is
 * measured in turn with it, so that neither a slow machine nor a busy one changes the result. Other threads hash the passwords.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contract } from '@arcade/contract/contract'
import { createPasswordLink } from '#src/identity/password-links.ts'
import { createCredential, answerWith } from '#test/authenticator.ts'
import { PASSWORD, testApp, type TestApp } from '#test/test-app.ts'
import { listRoutes } from './routes.ts'
import { loadWebApp } from './static.ts'

/** The most that a request may cost. A unit is about a millisecond. */
const MAX_UNITS = 1
/** Calls that write an account or a session in a transaction. Each address may make some 50 of them in a quarter of an hour. */
const MAX_LIMITED_UNITS = 6
/** The most batches of requests that are measured, and the requests of each. */
const [BATCHES, BATCH] = [40, 20]

let app: TestApp
let link = ''
let build = ''

beforeAll(async () => {
  build = await mkdtemp(join(tmpdir(), 'arcade-test-web-'))
  await mkdir(join(build, 'assets'))
  await writeFile(join(build, 'index.html'), '<head></head><main class="app-loading"></main><script>"the session"</script>')
  await writeFile(join(build, 'first-pages.json'), JSON.stringify({ signedIn: [], signedOut: [], later: [] }))
  await writeFile(join(build, 'assets', 'main-abc.js'), 'a'.repeat(500_000))
})
afterAll(() => rm(build, { recursive: true }))

async function prepare(): Promise<void> {
  app = await testApp({
    webApp: await loadWebApp(build),
    smtpUrl: 'smtp://127.0.0.1:9',
    oidc: { issuer: 'http://127.0.0.1:9/', clientId: 'console', clientSecret: undefined, name: 'Telegram' },
    metricsToken: 'a secret of the metrics'.replaceAll(' ', '-'),
  })
  const [admin, user] = [await app.signUp('admin', 'admin@gmail.com'), await app.signUp('user')]
  link = (await app.database.transaction((tx) => createPasswordLink(tx, { userId: user.id, madeBy: admin.id }))).path
    .split(/[=/]/)
    .at(-1)!
}

type Send = (turn: number) => Promise<Response>

const get =
  (path: string, headers: Record<string, string> = {}, method = 'GET'): Send =>
  () =>
    app.fetch(path, { method, headers })
const send =
  (method: string, path: string, body: (turn: number) => unknown): Send =>
  (turn) => {
    const text = body(turn)
    if (text === undefined) return app.fetch(path, { method })
    const headers = { 'content-type': 'application/json' }
    return app.fetch(path, { method, headers, body: typeof text === 'string' ? text : JSON.stringify(text) })
  }

const names = { fname: 'A', lname: 'B' }
const password = { password: 'secret1', confirmPassword: 'secret1' }
const unknown = 'x'.repeat(43)
/** The use of a passkey that nobody has, for a challenge that was never given. */
const unknownUse = answerWith(createCredential({ challenge: unknown, user: { id: unknown } }).passkey, { challenge: unknown })

/** Requests to each call that admits guests, and the status of their answers. */
const callsOfGuests: Record<string, [status: number, request: Send][]> = {
  'auth.session': [
    [200, get('/api/session')],
    [200, get('/api/session', { cookie: `session=${unknown}` })],
    [401, get('/api/session', { authorization: `Bearer arcade_${unknown}` })],
    [401, get('/api/session', { authorization: `tma ${'a=1&'.repeat(3900)}` })],
    [200, get(`/api/session?${'a=%41&'.repeat(2500)}`)],
  ],
  'auth.login': [
    [200, send('POST', '/api/session', () => ({ email: 'admin@gmail.com', password: PASSWORD }))],
    [401, send('POST', '/api/session', () => ({ email: 'nobody@gmail.com', password: PASSWORD }))],
  ],
  'auth.logout': [[200, get('/api/session', {}, 'DELETE')]],
  'auth.register': [
    [200, send('POST', '/api/register', (turn) => ({ ...names, ...password, email: `a${turn}@gmail.com` }))],
    [409, send('POST', '/api/register', () => ({ ...names, ...password, email: 'admin@gmail.com' }))],
  ],
  'auth.setupLink': [[200, send('POST', '/api/setup-link', () => ({ setup: unknown }))]],
  'passkeys.signInOptions': [[200, send('POST', '/api/session/passkey-options', () => undefined)]],
  'passkeys.signIn': [[403, send('POST', '/api/session/passkey', () => ({ response: unknownUse }))]],
  'oidc.beginSignIn': [[502, send('POST', '/api/session/oidc/begin', () => undefined)]],
  'oidc.signIn': [[403, send('POST', '/api/session/oidc', () => ({ code: unknown, state: unknown }))]],
  'secondFactor.prove': [[403, send('POST', '/api/session/second-factor', () => ({ code: '123456' }))]],
  'passkeys.secondFactorOptions': [[403, send('POST', '/api/session/second-factor/passkey-options', () => undefined)]],
  'passkeys.secondFactor': [[403, send('POST', '/api/session/second-factor/passkey', () => ({ response: unknownUse }))]],
  'account.passwordLink': [
    [200, send('POST', '/api/password-link', () => ({ link }))],
    [200, send('POST', '/api/password-link', () => ({ link: unknown }))],
  ],
  'emails.forgottenPassword': [
    [200, send('POST', '/api/forgotten-password', () => ({ email: 'admin@gmail.com' }))],
    [200, send('POST', '/api/forgotten-password', () => ({ email: 'nobody@gmail.com' }))],
  ],
  'emails.link': [[200, send('POST', '/api/email-link', () => ({ link: unknown }))]],
  'emails.confirm': [[403, send('PUT', '/api/email-link', () => ({ link: unknown }))]],
  'invitations.state': [[200, send('POST', '/api/invitation', () => ({ link: unknown }))]],
  'invitations.accept': [[403, send('PUT', '/api/invitation', () => ({ ...names, ...password, link: unknown }))]],
  'account.setPassword': [[403, send('PUT', '/api/password-link', () => ({ ...password, link: unknown }))]],
}
const limited = new Set([
  'oidc.beginSignIn',
  'oidc.signIn',
  'passkeys.signInOptions',
  'passkeys.signIn',
  'auth.login',
  'auth.register',
])

/** Requests to each path outside the contract. */
const otherPaths: Record<string, [status: number, request: Send][]> = {
  '/healthz': [[200, get('/healthz')]],
  '/readyz': [[200, get('/readyz')]],
  '/metrics': [[401, get('/metrics', { authorization: `Bearer ${unknown}` })]],
  '/api/openapi.json': [[200, get('/api/openapi.json')]],
  '/api/docs': [[200, get('/api/docs')]],
  'a page': [
    [200, get('/')],
    [200, get('/admin/users')],
  ],
  'a file': [
    [200, get('/assets/main-abc.js')],
    [200, get('/assets/main-abc.js', { 'accept-encoding': 'gzip' })],
  ],
  'no file': [
    [404, get('/assets/none.js')],
    [404, get('/api/none')],
    [404, get(`/bot/${'none/'.repeat(1000)}`)],
  ],
  'another method': [[405, get('/api/users', {}, 'PATCH')]],
  'a preflight request': [[204, get('/bot/v1/leaderboard', { 'access-control-request-method': 'GET' }, 'OPTIONS')]],
}

/** Bodies of 64 kB, the most that a guest may send, which are not what a call expects. */
const hostileBodies: Record<string, string> = {
  spaces: ' '.repeat(65_000),
  'one text': `{"email":"${'a'.repeat(65_000)}"}`,
  escapes: `{"email":"${String.raw`\u0041`.repeat(10_000)}"}`,
  fields: `{${Array.from({ length: 99 }, (_, n) => `"k${n}${'x'.repeat(600)}":1`).join()}}`,
  numbers: `[${'1.5e3,'.repeat(1000)}1]`,
  'long numbers': `[${`1.${'7'.repeat(15)},`.repeat(1000)}1]`,
  'inexact numbers': `[${`${'1'.repeat(60)},`.repeat(1000)}1]`,
  objects: `[${'{},'.repeat(500)}{}]`,
}

const routes = listRoutes(contract)
interface Measured {
  name: string
  status: number
  request: Send
  /** The most units that it may cost. */
  most: number
}
const measuredIn = (group: Record<string, [status: number, request: Send][]>): Measured[] =>
  Object.entries(group).flatMap(([name, all]) =>
    all.map(([status, request], index) => {
      return { name: `${name} (${index + 1})`, status, request, most: limited.has(name) ? MAX_LIMITED_UNITS : MAX_UNITS }
    }),
  )
const bodies = Object.entries(hostileBodies).map(([name, body]): [string, [number, Send][]] => {
  return [`64 kB of ${name}`, [[400, send('POST', '/api/session', () => body)]]]
})
const isLimited = ({ most }: Measured): boolean => most === MAX_LIMITED_UNITS
const groups: Record<string, Measured[]> = {
  'limited call': measuredIn(callsOfGuests).filter(isLimited),
  'other call': measuredIn(callsOfGuests).filter((request) => !isLimited(request)),
  'other path': measuredIn(otherPaths),
  'hostile body': measuredIn(Object.fromEntries(bodies)),
}

test('security: the cost of each request that a guest may make is measured', async () => {
  expect(Object.keys(callsOfGuests).toSorted(), 'a call for guests needs an example here').toEqual(
    routes
      .filter(({ meta }) => meta.access.includes('guest'))
      .map(({ name }) => name)
      .toSorted(),
  )
  await prepare()
  const inContract = new Set(routes.map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1')))
  const others = app.paths.filter((path) => !inContract.has(path))
  expect(Object.keys(otherPaths), 'a path outside the contract needs an example here').toEqual(expect.arrayContaining(others))
})

test.each(Object.entries(groups))('security: no %s of a guest costs the main thread more than its bound', async (_, requests) => {
  await prepare()
  const tooDear: Record<string, number> = {}
  for (const { name, status, request, most } of requests) {
    expect((await request(0)).status, name).toBe(status)
    const units = await unitsOf(request, most)
    if (units > most) tooDear[name] = units
  }
  expect(tooDear).toEqual({})
})

test('security: a guest who is refused costs the main thread at most one unit, whatever the call', async () => {
  await prepare()
  const closed = routes.filter(({ meta }) => !meta.access.includes('guest'))
  const refused: Send = (turn) => {
    const { method, path } = closed[turn % closed.length]!
    return app.fetch(path.replaceAll(/\{\w+\}/g, 'none'), { method })
  }
  for (let turn = 0; turn < closed.length; turn += 1) expect((await refused(turn)).status).toBe(401)
  expect(await unitsOf(refused, MAX_UNITS)).toBeLessThanOrEqual(MAX_UNITS)
})

/**
 * Returns what a request costs, in units: the least of several batches, each compared with units that ran directly after it, because other
 * work of the machine only adds to the cost. The first batch that is within `most` is enough.
 */
async function unitsOf(request: Send, most: number): Promise<number> {
  const size = most > MAX_UNITS ? BATCH / 4 : BATCH
  let turn = 1
  const compare = async (): Promise<number> => {
    const begun = await cpuMicroseconds()
    for (let sent = 0; sent < size; sent += 1) await (await request(turn++)).arrayBuffer()
    const answered = await cpuMicroseconds()
    for (let done = 0; done < size; done += 1) workOneUnit()
    return (answered - begun) / ((await cpuMicroseconds()) - answered)
  }
  let least = Infinity
  for (let batch = 0; batch < BATCHES && least > most; batch += 1) least = Math.min(least, await compare())
  return least
}

/** Returns the CPU time of this thread only. The system counts it when the thread waits, and else every few milliseconds. */
async function cpuMicroseconds(): Promise<number> {
  await pause(1)
  const { user, system } = process.threadCpuUsage()
  return user + system
}

const rows = Array.from({ length: 3000 }, (_, id) => ({ id, name: `player ${id}`, balance: id * 1.5, tags: ['a', 'b'] }))
function workOneUnit(): void {
  JSON.parse(JSON.stringify(rows))
}

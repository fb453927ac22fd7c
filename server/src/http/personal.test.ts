/**
 * Personal fields of players are withheld from roles without `players.personal` (security.md, Authorization): every call of the contract is
 * made as every role, with values planted wherever a player's data can be, and no answer may contain one.
 */
import { describe, expect, test } from 'vitest'
import { contract } from '@arcade/contract/contract'
import { lists } from '@arcade/contract/lists'
import { personalNames } from '@arcade/contract/personal'
import { playerFields } from '@arcade/contract/players/fields'
import type { Role } from '@arcade/contract/team/fields'
import { AT, KINDS, OLD_ACT, plant, plantByCalls, planted, traces } from '#test/planted-personal.ts'
import { readSheets, readWorkbook } from '#test/read-sheets.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { listRoutes, type Route } from './routes.ts'

const routes = listRoutes(contract).filter(({ meta }) => meta.access.includes('admin'))

interface Asked {
  path: string
  body?: object
}

const SHEETS = ['xlsx', 'csv'] as const
const filtered = (path: string): string[] => [
  ...Object.values(planted).map((value) => `${path}?search=${encodeURIComponent(value)}`),
  ...['has=email', 'wallet=ton', 'wallet=none', `any=${encodeURIComponent('[{"status":"unblocked"},{"wallet":"any"}]')}`].map(
    (query) => `${path}?${query}`,
  ),
]

/** Further paths and bodies of calls, by their names. Every call is made with ids of planted records in its path and with an empty body. */
const further: Readonly<Record<string, Asked[]>> = {
  'players.list': filtered('/api/telegram-users').map((path) => ({ path })),
  'players.count': filtered('/api/telegram-users/count').map((path) => ({ path })),
  'players.neighbours': filtered('/api/telegram-users/7/neighbours').map((path) => ({ path })),
  'players.block': [{ filter: {} }, { ids: ['7'] }].map((target) => ({
    path: '/api/telegram-users/block',
    body: { target, reason: 'R', dryRun: true },
  })),
  'dashboard.events': ['range=7d', 'history=social&item=item', 'player=7'].map((query) => ({ path: `/api/events?${query}` })),
  'calendar.list': [{ path: '/api/calendar?from=2026-01-01T00:00:00Z&to=2026-12-01T00:00:00Z' }],
  'history.participants': KINDS.map((kind) => ({ path: `/api/history/${kind}/item/participants?search=ada` })),
  'downloads.users': SHEETS.map((format) => ({ path: `/downloadUsersData?format=${format}` })),
  'downloads.players': SHEETS.map((format) => ({ path: `/downloadTelegramUsersData?format=${format}` })),
  'downloads.history': SHEETS.flatMap((format) =>
    ['', 'ada'].map((search) => ({
      path: `/download-history?format=${format}`,
      body: { data: { kind: 'social', id: 'item', search } },
    })),
  ),
  'downloads.selection': Object.keys(lists).flatMap((list) => [
    { path: '/api/exports', body: { list, target: { filter: {} }, format: 'xlsx' } },
    { path: '/api/exports', body: { list, target: { ids: ['7', 'item'] }, format: 'csv' } },
  ]),
  'notes.colleagues': [{ path: '/api/notes/colleagues?kind=player' }],
  'broadcasts.plan': [{ path: '/api/broadcasts/plan', body: {} }],
  'broadcasts.recipients': [
    { path: '/api/broadcasts/item/recipients?outcome=skipped' },
    { path: '/api/broadcasts/item/recipients?outcome=pending' },
  ],
  'fromBefore.ofParticipation': KINDS.map((kind) => ({ path: `/api/from-before/${kind}/item/participants/7?timestamp=${AT}` })),
  'audit.list': ['zqmail', 'zqnote', 'adjusted', ''].map((search) => ({ path: `/api/audit?search=${search}` })),
  'trash.restoreMany': [{ path: '/api/trash/restore', body: { target: { filter: {} }, dryRun: true } }],
}

const pathValues: Readonly<Record<string, readonly string[]>> = {
  userId: ['7'],
  kind: [
    ...KINDS,
    'socialTask',
    'dailyTask',
    'announcement',
    'user',
    'player',
    'socialHistory',
    'dailyHistory',
    'announcementHistory',
  ],
  role: ['analyst'],
  list: ['telegramUsers'],
  name: ['none.png'],
  actId: [OLD_ACT],
  deliveryId: ['msg'],
  exportId: [OLD_ACT],
}

/** Returns what is asked of a call: each combination of planted ids in its path, and what `further` has. */
function requestsOf({ name, path }: Route, ids: readonly string[]): Asked[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one!)
  const paths = names.reduce<string[]>(
    (made, one) =>
      made.flatMap((part) => (pathValues[one] ?? ['item', '7', ...ids]).map((value) => part.replace(`{${one}}`, value))),
    [path],
  )
  return [...paths.map((one) => ({ path: one })), ...(further[name] ?? [])]
}

/** Returns an answer as text: JSON, CSV, every file of a workbook, or the first event of a stream. */
async function answerText(
  app: TestApp,
  client: Client,
  { method }: Route,
  { path, body }: Asked,
): Promise<{ status: number; text: string }> {
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const response = await app.fetch(path, {
    method,
    headers: { ...client.headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(body ?? {}) }),
  })
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) {
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    await reader.cancel()
    return { status: response.status, text: new TextDecoder().decode(value) }
  }
  const bytes = Buffer.from(await response.arrayBuffer())
  const isWorkbook = type.includes('spreadsheetml')
  return { status: response.status, text: isWorkbook ? [...readWorkbook(bytes).parts.values()].join('\n') : bytes.toString() }
}

/** Makes every call and returns the names of those with a planted value in an answer, and of those that answered at all. */
async function walk(app: TestApp, client: Client, ids: readonly string[]) {
  const [telling, answering] = [new Map<string, string>(), new Set<string>()]
  // Reading first: what a role may change, it changes last.
  const inOrder = routes.toSorted((a, b) => Number(a.method !== 'GET') - Number(b.method !== 'GET'))
  for (const route of inOrder) {
    for (const asked of requestsOf(route, ids)) {
      const { status, text } = await answerText(app, client, route, asked)
      expect(status, `${route.name} ${asked.path}`).not.toBe(500)
      if (status === 200) answering.add(route.name)
      const found = traces.find((trace) => text.toLowerCase().includes(trace.toLowerCase()))
      if (found !== undefined) telling.set(route.name, `${asked.path} tells ${found}`)
    }
  }
  return { telling, answering }
}

const settings = { maxAdjustment: null, maxAdjustedDaily: null, maxBulk: null }

/** Returns an app with planted values, and a person with the role, which sees personal fields or not. */
async function plantedFor(role: Role, seesPersonal: boolean) {
  const app = await testApp()
  const owner = await app.signUp('owner')
  await plant(app)
  const ids = await plantByCalls(app, owner)
  if (role === 'owner') return { app, owner, person: owner, ids }
  expect((await owner.call('PUT', `/api/roles/${role}`, { ...settings, seesPersonal })).status).toBe(200)
  return { app, owner, person: await app.signUp(role), ids }
}

describe('§6 personal fields of players', () => {
  test('are those that a player has besides names, id, date and balance', () => {
    expect(personalNames(playerFields).toSorted()).toEqual(Object.keys(planted).toSorted())
  })

  test('the walk finds planted values where people may see them', async () => {
    const { app, person, ids } = await plantedFor('owner', true)
    const { telling, answering } = await walk(app, person, ids)
    expect([...telling.keys()].toSorted()).toEqual([
      'audit.list',
      'balances.entries',
      'broadcasts.get',
      'broadcasts.list',
      'downloads.history',
      'downloads.players',
      'downloads.selection',
      'fromBefore.get',
      'fromBefore.ofParticipation',
      'history.participants',
      'players.block',
      'players.get',
      'players.list',
      'players.participations',
      'views.list',
      'webhooks.deliveries',
      'webhooks.list',
    ])
    const silent = routes.filter(({ method, name }) => method === 'GET' && !answering.has(name)).map(({ name }) => name)
    // There is no image.
    expect(silent).toEqual(['announcements.file'])
  })

  test.each(['manager', 'editor', 'reviewer', 'analyst'] as const)(
    'no call tells them to a %s without the permission',
    async (role) => {
      const { app, person, ids } = await plantedFor(role, false)
      const { telling, answering } = await walk(app, person, ids)
      expect(Object.fromEntries(telling)).toEqual({})
      expect(answering.size).toBeGreaterThan(15)
    },
  )

  test('are found by no search, whole or in part, and told by no count', async () => {
    const { person, owner } = await plantedFor('manager', false)
    const { tonWalletAddress: _ton, bscWallet: _bsc, ...parts } = planted // wallets are found from their beginning only
    const starts = Object.values(planted).flatMap((value) => [value, value.slice(0, 6)])
    const searches = [...starts, ...Object.values(parts).map((value) => value.slice(2, 9))]
    for (const search of [...searches, '999 000-11', 'zqhost.example']) {
      const query = `search=${encodeURIComponent(search)}`
      const { body: page } = await person.call('GET', `/api/telegram-users?${query}`)
      expect([search, page.users, page.total ?? 0]).toEqual([search, [], 0])
      expect((await person.call('GET', `/api/telegram-users/count?${query}`)).body).toEqual({ total: 0, isMore: false })
      const { body: near } = await person.call('GET', `/api/telegram-users/7/neighbours?sort=user-id&${query}`)
      expect(near).toEqual({ previous: null, next: null })
      const unblock = { target: { filter: { search } }, dryRun: true }
      expect((await person.call('POST', '/api/telegram-users/unblock', unblock)).body.affected, search).toBe(0)
      expect((await owner.call('GET', `/api/telegram-users/count?${query}`)).body.total, search).toBe(1)
    }
    for (const search of ['zqmail', 'zqnote', 'View 1']) {
      expect((await person.call('GET', `/api/audit/count?search=${search}`)).body.total, search).toBe(0)
      expect((await owner.call('GET', `/api/audit/count?search=${search}`)).body.total, search).toBeGreaterThan(0)
    }
  })

  test('names and ids find players as before', async () => {
    const { person } = await plantedFor('analyst', false)
    for (const search of ['ada', 'Ada Day', '@ada_d', 'ad', 'DAY', '7', 'ä', 'day ada', 'ada adam']) {
      const query = `search=${encodeURIComponent(search)}`
      const { body } = await person.call('GET', `/api/telegram-users?${query}`)
      const ids = body.users.map(({ userId }: { userId: number }) => userId)
      expect([search, ids]).toEqual([search, search === 'ada adam' ? [] : [7]])
      expect((await person.call('GET', `/api/telegram-users/count?${query}`)).body.total, search).toBe(ids.length)
    }
  })

  test('are refused as filters, alone, in a group, in a view and in what a broadcast or an act is for', async () => {
    const { person } = await plantedFor('manager', false)
    const inGroup = '[{"status":"blocked"},{"has":"phone"}]'
    const filters = [{ has: 'email' }, { has: 'username,bsc' }, { wallet: 'none' }, { any: inGroup }]
    for (const filter of filters) {
      const query = new URLSearchParams(filter as Record<string, string>).toString()
      const target = { filter }
      const refused = await Promise.all([
        person.call('GET', `/api/telegram-users?${query}`),
        person.call('GET', `/api/telegram-users/count?${query}`),
        person.call('GET', `/api/telegram-users/7/neighbours?${query}`),
        person.call('POST', '/api/telegram-users/block', { target, reason: 'R', dryRun: true }),
        person.call('POST', '/api/exports', { list: 'telegramUsers', target }),
        person.call('POST', '/api/broadcasts/plan', target),
        person.call('POST', '/api/broadcasts', { announcementId: 'item', ...target }),
        person.call('POST', '/api/views', { list: 'telegramUsers', name: 'V', address: query, isShared: false }),
      ])
      for (const { status, body } of refused)
        expect([query, status, body.code, body.message]).toEqual([
          query,
          403,
          'FORBIDDEN',
          expect.stringContaining('players.personal'),
        ])
    }
    for (const query of ['has=username', 'status=blocked', `any=${encodeURIComponent('[{"has":"username"}]')}`])
      expect((await person.call('GET', `/api/telegram-users?${query}`)).status, query).toBe(200)
  })

  test('a search is refused where it would be kept and run with all fields: a shared view may be a segment', async () => {
    const { person } = await plantedFor('editor', false)
    const view = { list: 'telegramUsers', name: 'Mine', address: 'q=zqmail' }
    expect((await person.call('POST', '/api/views', { ...view, isShared: true })).status).toBe(403)
    const own = await person.call('POST', '/api/views', { ...view, isShared: false })
    expect(own.status).toBe(200)
    const share = { name: 'Mine', isShared: true }
    expect((await person.call('PATCH', `/api/views/${own.body.id}`, share)).status).toBe(403)
    const shared = { ...view, address: 'status=blocked', isShared: true, name: 'Shared' }
    const { id } = (await person.call('POST', '/api/views', shared)).body
    const changed = { name: 'Shared', isShared: true, address: 'status=blocked&q=zqmail' }
    expect((await person.call('PATCH', `/api/views/${id}`, changed)).status).toBe(403)
    for (const path of ['/api/broadcasts/plan', '/api/broadcasts']) {
      const audience = { filter: { search: 'zqmail' }, ...(path === '/api/broadcasts' && { announcementId: 'item' }) }
      const { status, body } = await person.call('POST', path, audience)
      expect([path, status, body.message]).toEqual([path, 403, expect.stringContaining('players.personal')])
    }
  })

  test('shared views that tell something about them cannot be used, changed or deleted', async () => {
    const { person, ids } = await plantedFor('manager', false)
    const { body } = await person.call('GET', '/api/views')
    expect(body.views).toEqual([])
    for (const id of ids.slice(0, 4)) {
      const list = id === ids[3] ? 'audit' : 'telegramUsers'
      const answers = [
        await person.call('PATCH', `/api/views/${id}`, { name: 'Other', isShared: true }),
        await person.call('PUT', `/api/default-views/${list}`, { id }),
        await person.call('DELETE', `/api/views/${id}`),
      ]
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'NO_SUCH_VIEW' } })
    }
  })

  test('the audit keeps figures of entries that may contain them, and says what it withholds', async () => {
    const { person } = await plantedFor('manager', false)
    const { body } = await person.call('GET', '/api/audit?recordKind=player')
    expect(body.playerNames).toEqual({ 7: 'Ada Day' })
    expect(body.entries).toHaveLength(4)
    for (const { recordName, changes, detail } of body.entries.slice(2)) {
      expect(recordName).toBeNull()
      expect(JSON.parse(changes)).toEqual({ email: ['(withheld)', '(withheld)'] })
      expect(JSON.parse(detail)).toEqual({ reason: '(withheld)', phones: '(withheld)', amount: 5 })
    }
  })

  test('columns of spreadsheets stay and are empty', async () => {
    const { person, owner } = await plantedFor('analyst', false)
    const [whole, withheld] = await Promise.all(
      [owner, person].map(async (one) => {
        const { body } = await one.call('GET', '/downloadTelegramUsersData')
        return Object.values(readSheets(body as ArrayBuffer))[0]!
      }),
    )
    expect(withheld![0]).toEqual(whole![0])
    const player = withheld!.find(([id]) => id === 7)!
    expect(player.filter((cell) => cell !== undefined)).toEqual([7, expect.any(Date), 'Ada', 'Day', 'ada_day', 5])
  })

  test('bots and owners see them as before', async () => {
    const { app, owner } = await plantedFor('analyst', false)
    const bot = await app.bot('reader', 'read')
    expect((await bot.call('GET', '/bot/v1/players/7')).body.player).toMatchObject(planted)
    expect((await owner.call('GET', '/api/telegram-users/7')).body).toMatchObject(planted)
  })
})

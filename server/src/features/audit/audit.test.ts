/** The audit as admins read it: every act with who, when, from where, what and on which record; and the history of one record. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { AuditEntry, RecordKind } from '@arcade/contract/audit/fields'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { sealEntries } from '#src/audit/chain.ts'
import { addPlayers } from '#test/players.ts'
import { readSheets } from '#test/read-sheets.ts'
import { type Client, testApp } from '#test/test-app.ts'

const task = { type: 'twitter', title: 'Follow us', link: 'https://x.com/moon', reward: 5, priority: 1 }
const opening = async () => {
  const app = await testApp()
  return { app, admin: await app.signUp('admin', 'ada@gmail.com') }
}
const trail = async (admin: Client, query = ''): Promise<AuditEntry[]> => {
  const answer = await admin.call('GET', `/api/audit${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.entries
}
const add = async (admin: Client, changes: object = {}): Promise<string> => {
  const answer = await admin.call('POST', '/api/social-tasks', { ...task, ...changes })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.id
}

describe('security: the audit trail', () => {
  test('lists the latest act first: who, when, from where, on which record, before and after', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const since = Date.now()
    const headers = {
      ...admin.headers,
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36',
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ ...task, title: 'Follow the moon', reward: 7, version: 1 })
    const answer = await app.fetch(`/api/social-tasks/${id}`, { method: 'PUT', headers, body }, '192.0.2.7')
    expect(answer.status).toBe(200)
    const [entry] = await trail(admin)
    expect(entry).toMatchObject({
      action: 'task.update',
      actorKind: 'user',
      actorId: admin.id,
      recordKind: 'socialTask',
      recordId: id,
      recordName: 'Follow the moon',
      address: '192.0.2.7',
      device: 'Chrome on Windows',
      actId: answer.headers.get('x-request-id'),
    })
    expect(JSON.parse(entry!.changes!)).toEqual({ title: ['Follow us', 'Follow the moon'], reward: [5, 7] })
    expect(JSON.parse(entry!.detail!)).toEqual({ version: 2 })
    expect(Math.abs(Date.parse(entry!.at) - since)).toBeLessThan(60_000)
  })

  test('records sign-ins, refused sign-ins and sign-outs', async () => {
    const { app, admin } = await opening()
    const signIn = (password: string, email = 'ada@gmail.com') => app.guest.call('POST', '/api/session', { email, password })
    expect((await signIn('wrong one')).status).toBe(401)
    expect((await signIn('wrong one', 'nobody@gmail.com')).status).toBe(401)
    const signedIn = await signIn('correct horse')
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!
    await app.guest.call('DELETE', '/api/session', undefined, { cookie })
    const entries = await trail(admin)
    expect(entries.map(({ action, actorId, recordId }) => [action, actorId, recordId])).toEqual([
      ['session.end', admin.id, null],
      ['session.begin', admin.id, null],
      ['session.refuse', null, null],
      ['session.refuse', null, admin.id],
    ])
    expect(JSON.stringify(entries)).not.toContain('wrong')
  })

  test('records an export with its list, filter and rows', async () => {
    const { admin } = await opening()
    await add(admin)
    await admin.call('POST', '/api/exports', { list: 'socialTasks', target: { filter: { search: 'follow' } }, format: 'csv' })
    const [entry] = await trail(admin, '?action=export')
    expect(entry).toMatchObject({ recordKind: 'list', recordId: 'socialTasks' })
    expect(JSON.parse(entry!.detail!)).toEqual({ filter: { search: 'follow' }, format: 'csv', rows: 1 })
  })

  test('is filtered by action, kind, actor, record and time, and searched by names and ids', async () => {
    const { app, admin } = await opening()
    const eve = await app.signUp('admin')
    const [id] = [await add(admin), await add(eve, { title: 'Join us', priority: 2 })]
    await admin.call('DELETE', `/api/social-tasks/${id}`)
    const actions = async (query: string) => (await trail(admin, query)).map(({ action }) => action)
    expect(await actions('')).toEqual(['task.remove', 'task.create', 'task.create'])
    expect(await actions('?action=task.remove')).toEqual(['task.remove'])
    expect(await actions(`?actorId=${eve.id}`)).toEqual(['task.create'])
    expect(await actions(`?recordId=${id}&recordKind=socialTask`)).toEqual(['task.remove', 'task.create'])
    expect(await actions('?recordKind=announcement')).toEqual([])
    expect(await actions('?search=join')).toEqual(['task.create'])
    expect(await actions(`?search=${id}`)).toEqual(['task.remove', 'task.create'])
    expect(await actions('?doneFrom=2000-01-01T00:00:00Z')).toHaveLength(3)
    expect(await actions('?doneBefore=2000-01-01T00:00:00Z')).toEqual([])
    expect((await admin.call('GET', '/api/audit/count?action=task.create')).body).toEqual({ total: 2, isMore: false })
  })

  test('is searched by the words of actions and by the reasons that people gave, sealed or not', async () => {
    const { app, admin } = await opening()
    await addPlayers(app.database.db, [{ user_id: 7, first_name: 'Neo' }])
    const done = async (path: string, body: object) => expect((await admin.call('POST', path, body)).status).toBe(200)
    await done('/api/telegram-users/7/adjustments', { amount: 5, reason: 'Goodwill after an outage' })
    await done('/api/telegram-users/block', { target: { ids: ['7'] }, reason: 'Goodbye' })
    const { playerNames } = (await admin.call('GET', '/api/audit')).body
    expect(playerNames).toEqual({ 7: 'Neo' })
    await add(admin)
    const found = async (search: string) =>
      (await trail(admin, `?search=${encodeURIComponent(search)}`)).map(({ action }) => action)
    const expectFound = async () => {
      expect(await found('goodwill')).toEqual(['player.adjust'])
      expect(await found('GOOD')).toEqual(['player.block', 'player.adjust'])
      expect(await found('Adjusted')).toEqual(['player.adjust'])
      expect(await found('a balance')).toEqual(['player.adjust'])
      expect(await found('added a task')).toEqual(['task.create'])
      expect(await found('dded')).toEqual([])
      expect(await found(`goodwill${'x'.repeat(90)}`)).toEqual([])
    }
    await expectFound()
    await sealEntries(app.database)
    await expectFound()
    const counted = await admin.call('GET', '/api/audit/count?search=good')
    expect(counted.body).toEqual({ total: 2, isMore: false })
  })

  test('is read page by page, and its total is the number of entries', async () => {
    const { admin } = await opening()
    for (let n = 1; n <= 60; n += 1) await add(admin, { priority: n })
    const first = (await admin.call('GET', '/api/audit')).body
    expect(first).toMatchObject({ total: 60, pageCount: 2, before: null })
    const second = (await admin.call('GET', `/api/audit?after=${encodeURIComponent(first.after)}`)).body
    const numbers = [...first.entries, ...second.entries].map(({ seq }: AuditEntry) => seq)
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, index) => 60 - index))
    expect(second.after).toBeNull()
  })

  test('refuses a cursor of another list, even if that list has an order of the same name', async () => {
    const { app, admin } = await opening()
    await addPlayers(
      app.database.db,
      Array.from({ length: 6 }, (_, index) => ({ user_id: index + 1 })),
    )
    const { after } = (await admin.call('GET', '/api/telegram-users?sort=newest')).body
    expect(after).not.toBeNull()
    expect(await admin.call('GET', `/api/audit?sort=newest&after=${after}`)).toMatchObject({
      status: 400,
      body: { success: false, code: 'INVALID_INPUT' },
    })
  })

  test('is read without writing anything: entries that are not sealed yet have the number that sealing gives them', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    await sealEntries(app.database)
    for (let n = 2; n <= 4; n += 1) await add(admin, { priority: n })
    await admin.call('DELETE', `/api/social-tasks/${id}`)
    const read = async () => ({
      page: await trail(admin),
      ofOne: await trail(admin, `?recordId=${id}`),
      history: (await admin.call('GET', `/api/audit/records/socialTask/${id}`)).body,
      count: (await admin.call('GET', '/api/audit/count?search=follow')).body,
    })
    const before = await read()
    expect(before.page.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1])
    expect(before.ofOne.map(({ seq, action }) => [seq, action])).toEqual([
      [5, 'task.remove'],
      [1, 'task.create'],
    ])
    expect(before.history.entries).toHaveLength(2)
    expect(before.count).toEqual({ total: 5, isMore: false })
    const { rows: open } = await sql`select from audit_open`.execute(app.database.db)
    expect(open).toHaveLength(4)
    await sealEntries(app.database)
    expect(await read()).toEqual(before)
  })

  test('is read both ways within a filter and time, sealed or not, even if entries have the same time', async () => {
    const { app, admin } = await opening()
    const bot = { ...actOfProcess('command', 'moon'), kind: 'bot' as const, actorId: 'b1' }
    const entries = (kind: RecordKind, count: number) =>
      Array.from({ length: count }, (_, n) => ({ record: { kind, id: `r${n % 2}`, name: `R${n}` } }))
    for (const act of [bot, { ...bot, kind: 'user' as const, actorId: 'u1' }]) {
      await audit(app.database.db, act, 'task.update', entries('socialTask', 120))
      await audit(app.database.db, act, 'view.update', entries('view', 120))
    }
    await sql`update audit_open set at = case record_kind when 'view' then timestamptz '2026-01-01Z' else '2026-01-02Z' end`.execute(
      app.database.db,
    )
    await sealEntries(app.database)
    await audit(app.database.db, bot, 'task.update', entries('socialTask', 140))
    await sql`update audit_open set at = timestamptz '2026-01-03Z'`.execute(app.database.db)
    const { rows } = await sql<Record<string, unknown>>`
      select seq, at, action, record_kind as "recordKind", actor_kind as "actorKind", actor_id as "actorId", record_id as "recordId"
        from audit_trail order by at desc, seq`.execute(app.database.db)
    const filters = { action: 'task.update', recordKind: 'socialTask', actorKind: 'bot', actorId: 'b1', recordId: 'r1' }
    const bounds = [{}, { doneFrom: '2026-01-02T00:00:00Z' }, { doneBefore: '2026-01-03T00:00:00Z' }]
    const one = Object.entries(filters).map(([filter, value]) => ({ [filter]: value }))
    const queries = [...one, {}].flatMap((filter) =>
      [...bounds, { ...bounds[1], ...bounds[2] }].map((bound) => ({ ...filter, ...bound })),
    )
    for (const all of queries as Record<string, string>[]) {
      const { doneFrom = '2000-01-01', doneBefore = '3000-01-01', ...filter } = all
      const query = new URLSearchParams(all).toString()
      const isWithin = (at: Date): boolean => at >= new Date(doneFrom) && at < new Date(doneBefore)
      const found = rows.filter(
        (row) => isWithin(row['at'] as Date) && Object.entries(filter).every(([name, value]) => row[name] === value),
      )
      const expected = found.map(({ seq }) => seq)
      expect(expected.length, query).toBeGreaterThan(50)
      const page = async (further: string) => (await admin.call('GET', `/api/audit?${query}${further}`)).body
      const pages = [await page('')]
      while (pages.at(-1).after !== null) pages.push(await page(`&after=${encodeURIComponent(pages.at(-1).after)}`))
      const numbersOf = (read: typeof pages) => read.flatMap(({ entries: listed }) => listed.map(({ seq }: AuditEntry) => seq))
      expect(numbersOf(pages), query).toEqual(expected)
      const back = [await page('&reversed=true')]
      while (back.at(-1).after !== null) back.push(await page(`&reversed=true&after=${encodeURIComponent(back.at(-1).after)}`))
      expect(numbersOf(back), `${query} backwards`).toEqual(expected.toReversed())
      const before = await page(`&before=${encodeURIComponent(pages.at(-1).before)}`)
      expect(numbersOf([before]), `${query} before the last page`).toEqual(numbersOf([pages.at(-2)]))
    }
  })

  test('can be exported, which is audited itself', async () => {
    const { app, admin } = await opening()
    await add(admin)
    const headers = { ...admin.headers, 'content-type': 'application/json' }
    const body = JSON.stringify({ list: 'audit', target: { filter: {} }, format: 'csv' })
    const csv = await (await app.fetch('/api/exports', { method: 'POST', headers, body })).text()
    expect(csv.split('\r\n')[0]).toContain('Who,As,What,Action,Kind,')
    expect(csv).toContain(',Person,Added a task,task.create,Social Task,')
    expect(csv).toContain('Follow us')
    expect(csv).toContain('"{""priority"":[null,1]')
    const xlsx = await app.fetch('/api/exports', { method: 'POST', headers, body: body.replace('csv', 'xlsx') })
    const [, newest, created] = readSheets(await xlsx.arrayBuffer())['Audit']!
    expect(newest).toContain('export')
    expect(created).toContain('{"version":1}')
    expect((await trail(admin, '?action=export')).map(({ recordId }) => recordId)).toEqual(['audit', 'audit'])
  })
})

describe('a record’s own history', () => {
  test('lists what happened to it, newest first, without where the acts came from, for admins only', async () => {
    const { app, admin } = await opening()
    const user = await app.signUp('user')
    const id = await add(admin)
    await add(admin, { priority: 2 })
    await admin.call('PUT', `/api/social-tasks/${id}`, { ...task, reward: 6 })
    const { status, body } = await admin.call('GET', `/api/audit/records/socialTask/${id}`)
    expect(status).toBe(200)
    expect(body.entries.map(({ action }: AuditEntry) => action)).toEqual(['task.update', 'task.create'])
    expect(Object.keys(body.entries[0]).toSorted()).toEqual(
      ['action', 'actorKind', 'actorName', 'at', 'changes', 'detail', 'seq'].toSorted(),
    )
    for (const path of [`records/user/${admin.id}`, `records/socialTask/${id}`])
      expect((await user.call('GET', `/api/audit/${path}`)).status, path).toBe(403)
  })

  test('of a user shows changes of names and role, fifty a page', async () => {
    const { app, admin } = await opening()
    const user = await app.signUp('user')
    for (let n = 1; n <= 55; n += 1) await admin.call('PATCH', `/api/users/${user.id}`, { fname: `A${n}`, lname: 'B' })
    const first = (await admin.call('GET', `/api/audit/records/user/${user.id}`)).body
    expect(first.entries).toHaveLength(50)
    const second = (await admin.call('GET', `/api/audit/records/user/${user.id}?after=${encodeURIComponent(first.after)}`)).body
    expect(second.entries).toHaveLength(5)
    expect(JSON.parse(second.entries[3].changes)).toEqual({ fname: ['A1', 'A2'] })
  })
})

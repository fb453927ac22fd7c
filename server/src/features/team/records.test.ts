/** The permission that each kind of record and each list needs, where one call is about several of them (contract/src/team/records.ts). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { lists } from '@arcade/contract/lists'
import { type Role, roles } from '@arcade/contract/team/fields'
import { defaultRoleSettings, permissionsOf } from '@arcade/contract/team/permissions'
import { listPermissions } from '@arcade/contract/team/records'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestAnswer, type TestApp } from '#test/test-app.ts'

const may = (role: Role, permission: string) => permissionsOf(role, defaultRoleSettings[role]).some((one) => one === permission)
const calls = async (client: Client, paths: string[]) =>
  Promise.all(paths.map(async (path) => [path, (await client.call('GET', path)).status]))

async function addItems({ database: { db } }: TestApp): Promise<void> {
  await sql`insert into tasks (collection, id, image, priority, title, reward, starts_at) values
    ('social', 's', 'twitter', 1, 'S', 1, '2026-06-01'), ('daily', 'd', 'twitter', 1, 'D', 1, '2026-06-01')`.execute(db)
  await sql`insert into announcements (id, type, title, subtitle, reward, status, starts_at)
    values ('a', 'desc', 'A', 'S', 1, false, '2026-06-01')`.execute(db)
}

describe('a list', () => {
  test.each(roles)('is downloaded and has views only for roles that see it: %s', async (role) => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    const person = role === 'owner' ? owner : await app.signUp(role)
    for (const list of Object.keys(lists) as (keyof typeof lists)[]) {
      const view = { list, name: 'Shared', address: 'sort=x', isShared: true }
      const { id } = (await owner.call('POST', '/api/views', view)).body
      const isSeen = may(role, listPermissions[list])
      const sheet = await person.call('POST', '/api/exports', { list, target: { filter: {} } })
      expect([list, sheet.status]).toEqual([list, isSeen && may(role, 'exports.make') ? 200 : 403])
      const { views } = (await person.call('GET', '/api/views')).body
      expect([list, views.some((one: { id: string }) => one.id === id)]).toEqual([list, isSeen])
      const made = await person.call('POST', '/api/views', { ...view, name: 'Own', isShared: false })
      expect([list, made.status]).toEqual([list, isSeen ? 200 : 403])
      const first = await person.call('PUT', `/api/default-views/${list}`, { id })
      expect([list, first.status]).toEqual([list, isSeen ? 200 : 404])
      const changed = await person.call('PATCH', `/api/views/${id}`, { name: 'Changed', isShared: true })
      expect([list, changed.status]).toEqual([list, isSeen ? 200 : 404])
      const removed = await person.call('DELETE', `/api/views/${id}`)
      expect([list, removed.status]).toEqual([list, isSeen ? 200 : 404])
    }
    expect((await person.call('GET', '/downloadUsersData')).status).toBe(may(role, 'users.read') ? 200 : 403)
    expect((await person.call('GET', '/downloadTelegramUsersData')).status).toBe(may(role, 'exports.make') ? 200 : 403)
  })
})

describe('a record', () => {
  test.each(roles)('tells its history, dates and kept fields only to roles that see its kind: %s', async (role) => {
    const app = await testApp()
    await addItems(app)
    const person = await app.signUp(role)
    const status = (permission: string) => (may(role, permission) ? 200 : 403)
    const byKind = { socialTask: 'tasks.read', dailyTask: 'tasks.read', announcement: 'announcements.read', user: 'users.read' }
    for (const [kind, permission] of Object.entries(byKind)) {
      const paths = [`/api/audit/records/${kind}/x`, `/api/from-before/${kind}/x`]
      expect(await calls(person, paths)).toEqual(paths.map((path) => [path, status(permission)]))
    }
    const personal = ['/api/from-before/player/7', '/api/from-before/social/s/participants/7?timestamp=2026-05-05T17:20:00.000Z']
    expect(await calls(person, personal)).toEqual(personal.map((path) => [path, status('players.personal')]))
    expect(await calls(person, ['/api/from-before/socialHistory/s'])).toEqual([
      ['/api/from-before/socialHistory/s', status('history.read')],
    ])
    const { body } = await person.call('GET', '/api/calendar?from=2026-05-01T00:00:00Z&to=2026-07-01T00:00:00Z')
    const kinds = [
      ...(may(role, 'announcements.read') ? ['announcement'] : []),
      ...(may(role, 'tasks.read') ? ['daily', 'social'] : []),
    ]
    expect((body.items ?? []).map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(kinds)
  })

  test('an act is undone, and what it deleted restored, only by roles that may change its records', async () => {
    const app = await testApp()
    await addItems(app)
    await addPlayers(app.database.db, [{ user_id: 7, balance: 1 }])
    const [owner, editor] = [await app.signUp('owner'), await app.signUp('editor')]
    const idOf = ({ status, headers }: TestAnswer): string => {
      expect(status).toBe(200)
      return headers.get('x-request-id')!
    }
    const blocked = idOf(await owner.call('POST', '/api/telegram-users/block', { target: { ids: ['7'] }, reason: 'R' }))
    const refused = await editor.call('POST', `/api/acts/${blocked}/undo`, {})
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('players.block')])
    const paused = idOf(await owner.call('POST', '/api/social-tasks/pause', { target: { ids: ['s'] }, paused: true }))
    expect((await editor.call('POST', `/api/acts/${paused}/undo`, {})).status).toBe(200)
    expect((await owner.call('POST', `/api/acts/${blocked}/undo`, {})).status).toBe(200)
    const removed = await app.signUp('user')
    const ofUser = idOf(await owner.call('DELETE', `/removeUser/${removed.id}`))
    const user = await editor.call('POST', '/api/trash/restore-act', { actId: ofUser })
    expect([user.status, user.body.message]).toEqual([403, expect.stringContaining('trash.manage')])
    const ofTask = idOf(await owner.call('DELETE', '/api/social-tasks/s'))
    expect((await editor.call('POST', '/api/trash/restore-act', { actId: ofTask })).body).toMatchObject({ affected: 1 })
    expect((await owner.call('POST', '/api/trash/restore-act', { actId: ofUser })).body).toMatchObject({ affected: 1 })
  })

  test('a manager neither restores nor purges a person who may do more', async () => {
    const app = await testApp()
    const [owner, manager] = [await app.signUp('owner'), await app.signUp('manager')]
    const [other, editor] = [await app.signUp('owner', 'other@gmail.com'), await app.signUp('editor', 'ed@gmail.com')]
    const many = await owner.call('POST', '/api/users/remove', { target: { ids: [other.id, editor.id] } })
    expect(many.body).toMatchObject({ affected: 2 })
    const { records } = (await manager.call('GET', '/api/trash')).body
    const { id } = records.find(({ recordId }: { recordId: string }) => recordId === other.id)
    const one = await manager.call('POST', '/api/trash/restore-one', { id })
    expect([one.status, one.body.message]).toEqual([403, 'Your role may not do this to a person with the role Owner.'])
    const purged = await manager.call('POST', '/api/trash/purge', { target: { ids: [id] } })
    const reason = 'Your role may not purge a person with the role Owner.'
    expect(purged.body).toMatchObject({ affected: 0, refused: 1, refusals: [{ id, reason, code: 'FORBIDDEN' }] })
    const actId = many.headers.get('x-request-id')
    const rest = await manager.call('POST', '/api/trash/restore-act', { actId })
    expect(rest.body).toMatchObject({ affected: 1, refused: 1, refusals: [{ id, code: 'FORBIDDEN' }] })
    expect((await owner.call('POST', '/api/trash/restore-one', { id })).status).toBe(200)
    expect((await owner.call('GET', `/api/users/${other.id}`)).body).toMatchObject({ role: 'owner' })
  })

  test('a stream of History or a player is for roles that see them, and an alert for those who can do something about it', async () => {
    const app = await testApp()
    const analyst = await app.signUp('analyst')
    const reviewer = await app.signUp('reviewer')
    await sql`insert into webhooks (id, url, events, secret, alert) values ('w', 'https://bot.example/', '{}', '\\x06', 'It is gone.')`.execute(
      app.database.db,
    )
    for (const person of [analyst, reviewer])
      for (const query of ['history=social', 'player=7', 'range=7d'])
        expect((await person.call('GET', `/api/events?${query}`)).status, query).toBe(200)
    const aboutWebhooks = async (person: Client) =>
      (await person.call('GET', '/api/alerts')).body.alerts.filter(({ about }: { about: string }) => about === 'webhook')
    expect(await aboutWebhooks(analyst)).toEqual([])
    expect(await aboutWebhooks(await app.signUp('owner'))).toHaveLength(1)
  })
})

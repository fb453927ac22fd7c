/** Notes of the team: who reads, writes, changes and deletes them, searches, mentions, the trash, and what the audit says. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { found, named, notesOn, opening, type ShownNote, textsOn, write } from '#test/notes.ts'
import { openAgain } from '#test/test-database.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { sweepRemovedNotes } from './notes.ts'

describe('a note', () => {
  test('on each kind of record is shown newest first, with who wrote it, when, and whether it was changed', async () => {
    const { owner, editor, items } = await opening()
    for (const { path } of items) {
      const first = await write(owner, path, '  Called twice.\nNo answer.  ')
      await write(editor, path, 'Paid back')
      const change = { text: 'Called three times.', version: 1 }
      expect((await owner.call('PUT', `/api/notes/${first}`, change)).body).toEqual({ success: true })
      expect((await editor.call('GET', `/api/notes/${path}`)).body).toEqual({
        notes: [
          expect.objectContaining({
            text: 'Paid back',
            editedAt: null,
            author: { id: editor.id, name: 'Eve Editor' },
            version: 1,
          }),
          {
            id: first,
            text: 'Called three times.',
            createdAt: expect.stringMatching(/Z$/),
            editedAt: expect.stringMatching(/Z$/),
            author: { id: owner.id, name: 'Olga Owner' },
            mentions: [],
            version: 2,
          },
        ],
        after: null,
      })
    }
  })

  test('is refused without text, beyond 2,000 characters, and on a record that is not there', async () => {
    const { owner, items } = await opening()
    for (const text of ['', '   ', 'x'.repeat(2001), undefined])
      expect((await owner.call('POST', `/api/notes/${items[0]!.path}`, { text })).body).toMatchObject({
        code: 'INVALID_INPUT',
        fields: { text: expect.any(String) },
      })
    await write(owner, items[0]!.path, '😀'.repeat(2000))
    for (const [path, code] of [
      ['player/9', 'NO_SUCH_PLAYER'],
      ['player/x', 'NO_SUCH_PLAYER'],
      ['player/9007199254740993', 'NO_SUCH_PLAYER'],
      ['socialTask/none', 'NO_SUCH_TASK'],
      [`dailyTask/${items[1]!.id}`, 'NO_SUCH_TASK'],
      ['announcement/none', 'ANNOUNCEMENT_NOT_FOUND'],
      ['user/x', 'INVALID_INPUT'],
    ] as const) {
      expect((await owner.call('POST', `/api/notes/${path}`, { text: 'x' })).body.code, path).toBe(code)
      expect((await owner.call('GET', `/api/notes/${path}`)).body.code, path).toBe(code)
    }
  })

  test('is written once, however often the request is repeated', async () => {
    const { owner, items } = await opening()
    const key = { 'idempotency-key': 'note' }
    const answers = await Promise.all(
      [1, 2, 3].map(() => owner.call('POST', `/api/notes/${items[1]!.path}`, { text: 'Once' }, key)),
    )
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await textsOn(owner, items[1]!.path)).toEqual(['Once'])
  })

  test('is paged, twenty at a time', async () => {
    const { owner, items } = await opening()
    const { path } = items[2]!
    for (let n = 1; n <= 41; n += 1) await write(owner, path, `Note ${n}`)
    const texts: string[] = []
    let after: string | null = ''
    while (after !== null) {
      const { body } = await owner.call('GET', `/api/notes/${path}${after && `?after=${after}`}`)
      texts.push(...body.notes.map(({ text }: ShownNote) => text))
      after = body.after
    }
    expect(texts).toEqual(Array.from({ length: 41 }, (_, n) => `Note ${41 - n}`))
    expect((await owner.call('GET', `/api/notes/${path}?after=abc`)).body.code).toBe('INVALID_INPUT')
  })

  test('is changed by its author alone, and deleted by the author or an owner, who can undo it', async () => {
    const { app, owner, editor, items } = await opening()
    const [manager, path] = [await app.signUp('manager'), items[0]!.path]
    const id = await write(editor, path, 'Mine')
    for (const client of [owner, manager]) {
      const { status, body } = await client.call('PUT', `/api/notes/${id}`, { text: 'Yours' })
      expect([status, body.message]).toEqual([403, 'Only who wrote a note may change it.'])
    }
    expect((await manager.call('DELETE', `/api/notes/${id}`)).status).toBe(403)
    expect((await editor.call('PUT', `/api/notes/${id}`, { text: 'Stale', version: 2 })).body.code).toBe('STALE')
    for (const client of [editor, owner]) {
      expect((await client.call('DELETE', `/api/notes/${id}`)).status).toBe(200)
      expect(await textsOn(editor, path)).toEqual([])
      expect(await found(editor, 'Mine')).toEqual([])
      expect((await client.call('DELETE', `/api/notes/${id}`)).body.code).toBe('NO_SUCH_NOTE')
      expect((await client.call('PUT', `/api/notes/${id}`, { text: 'Gone' })).body.code).toBe('NO_SUCH_NOTE')
      expect((await manager.call('POST', '/api/notes/restore', { noteId: id })).status).toBe(403)
      expect((await client.call('POST', '/api/notes/restore', { noteId: id })).status).toBe(200)
      expect(await textsOn(editor, path)).toEqual(['Mine'])
    }
    expect((await owner.call('POST', '/api/notes/restore', { noteId: id })).body.code).toBe('NO_SUCH_NOTE')
  })

  test('that was deleted goes for good after a day', async () => {
    const { app, owner, items } = await opening()
    const [kept, gone] = [await write(owner, items[0]!.path, 'Kept'), await write(owner, items[0]!.path, 'Gone')]
    for (const id of [kept, gone]) await owner.call('DELETE', `/api/notes/${id}`)
    const { db } = app.database
    await sql`update notes set removed_at = now() - interval '25 hours' where id = ${gone}`.execute(db)
    expect((await owner.call('POST', '/api/notes/restore', { noteId: gone })).body.code).toBe('NO_SUCH_NOTE')
    await sweepRemovedNotes(app.database)
    const { rows } = await sql<{ id: string }>`select id from notes`.execute(db)
    expect(rows).toEqual([{ id: kept }])
  })

  test('stays when its author is removed, without a name, and the author who is restored has it again', async () => {
    const { owner, editor, items } = await opening()
    await write(editor, items[0]!.path, 'By Eve')
    await owner.call('DELETE', `/removeUser/${editor.id}`)
    expect(await notesOn(owner, items[0]!.path)).toMatchObject([{ text: 'By Eve', author: { id: editor.id, name: null } }])
    const [trashed] = (await owner.call('GET', '/api/trash')).body.records
    await owner.call('POST', '/api/trash/restore-one', { id: trashed.id })
    expect(await notesOn(owner, items[0]!.path)).toMatchObject([{ author: { name: 'Eve Editor' } }])
  })

  test('is in the audit without its text', async () => {
    const { app, owner, items } = await opening()
    const [player, task] = items
    const id = await write(owner, task!.path, 'A secret word')
    await owner.call('PUT', `/api/notes/${id}`, { text: 'Another secret word' })
    await owner.call('DELETE', `/api/notes/${id}`)
    await owner.call('POST', '/api/notes/restore', { noteId: id })
    await write(owner, player!.path, 'A secret word')
    const entries = (await auditTrail(app.database.db)).filter(({ action }) => action.startsWith('note.'))
    expect(entries).toMatchObject([
      ...(['note.create', 'note.update', 'note.remove', 'note.restore'] as const).map((action) => ({
        action,
        recordKind: 'socialTask',
        recordId: task!.id,
        recordName: 'Subscribe',
        detail: { note: id },
      })),
      { action: 'note.create', recordKind: 'player', recordId: '7', recordName: null },
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
    const priority = { type: 'email', title: 'Subscribe', reward: 1, priority: 5 }
    await owner.call('PUT', `/api/social-tasks/${task!.id}`, priority)
    const [oldest] = (await owner.call('GET', `/api/audit/records/socialTask/${task!.id}`)).body.entries.slice(-1)
    const restored = await owner.call('POST', `/api/social-tasks/${task!.id}/restore`, {
      seq: oldest.seq,
      version: 2,
      dryRun: true,
    })
    expect(restored.body, 'notes are no versions').toMatchObject({ success: true })
  })
})

describe('what a role may do', () => {
  test('reading notes needs the record’s permission, writing them notes.write as well', async () => {
    const { app, owner, items } = await opening()
    for (const { path } of items) await write(owner, path, `About ${path}`)
    const [analyst, reviewer] = [await app.signUp('analyst'), await app.signUp('reviewer')]
    for (const { path } of items) {
      expect((await analyst.call('GET', `/api/notes/${path}`)).status, path).toBe(200)
      expect((await analyst.call('POST', `/api/notes/${path}`, { text: 'x' })).status, path).toBe(403)
    }
    const [player, ...others] = items
    expect(await textsOn(reviewer, player!.path)).toEqual(['About player/7'])
    await write(reviewer, player!.path, 'Reviewed')
    for (const { path } of others) {
      expect((await reviewer.call('GET', `/api/notes/${path}`)).status, path).toBe(403)
      expect((await reviewer.call('POST', `/api/notes/${path}`, { text: 'x' })).status, path).toBe(403)
    }
    expect((await found(reviewer, 'about')).map(({ text }) => text)).toEqual(['About player/7'])
    expect(await found(owner, 'about')).toHaveLength(4)
    const [onTask] = await notesOn(owner, items[1]!.path)
    for (const [method, path] of [
      ['PUT', `/api/notes/${onTask!.id}`],
      ['DELETE', `/api/notes/${onTask!.id}`],
    ] as const)
      expect((await reviewer.call(method, path, method === 'PUT' ? { text: 'x' } : undefined)).status).toBe(403)
  })

  test('a role without personal fields reads notes, but no handle as the title of a player', async () => {
    const { app, owner } = await opening()
    await write(owner, 'player/7', 'On Ada')
    await write(owner, 'player/8', 'On the one without a name')
    const analyst = await app.signUp('analyst')
    expect((await found(analyst, 'on')).map(({ title }) => title)).toEqual(['8', 'Ada Moon'])
  })
})

describe('the search', () => {
  test.each([
    ['a word inside', 'ARRANTY'],
    ['another case and no accents', 'ecole'],
    ['several words', 'warranty for école'],
    ['punctuation that the index replaces', 'nr_12.5'],
    ['one character', 'é'],
    ['another script', '保証'],
  ])('finds %s', async (_what, search) => {
    const { owner, items } = await opening()
    await write(owner, items[3]!.path, 'The warranty for École is NR_12.5-b, 保証')
    await write(owner, items[0]!.path, 'Nothing of that')
    expect(await found(owner, search)).toMatchObject([{ title: 'Spring', kind: 'announcement', recordId: items[3]!.id }])
  })

  test('without a text returns all notes, newest first', async () => {
    const { owner, items } = await opening()
    for (const { path } of items) await write(owner, path, path)
    expect((await found(owner, '')).map(({ text }) => text)).toEqual(items.map(({ path }) => path).toReversed())
  })

  test('uses its index', async () => {
    const { app, owner } = await opening()
    const { db } = app.database
    await sql`insert into notes (id, kind, record_id, text, author_id)
      select 'n' || n, 'player', '7', 'Note number ' || md5(n::text), 'x' from generate_series(1, 5000) n`.execute(db)
    await sql`insert into notes (id, kind, record_id, text, author_id) values ('rare', 'player', '7', 'The zebra', 'x')`.execute(
      db,
    )
    await sql`analyze notes`.execute(db)
    const before = await scans(app)
    expect((await found(owner, 'zebra')).map(({ id }) => id)).toEqual(['rare'])
    await expect.poll(() => scans(app), { timeout: 10_000 }).toBeGreaterThan(before)
  })

  async function scans({ database }: TestApp): Promise<number> {
    const { rows } = await sql<{ scans: number }>`
      select idx_scan as scans from pg_stat_user_indexes where indexrelname = 'notes_searched_words'`.execute(database.db)
    return rows[0]!.scans
  }
})

describe('an item in the trash', () => {
  test('takes its notes along, and brings them back', async () => {
    const { owner, items } = await opening()
    const { path, id } = items[1]!
    await write(owner, path, 'Stays with it')
    await owner.call('DELETE', `/api/social-tasks/${id}`)
    expect((await owner.call('GET', `/api/notes/${path}`)).body.code).toBe('NO_SUCH_TASK')
    expect(await found(owner, 'stays')).toEqual([])
    const [trashed] = (await owner.call('GET', '/api/trash')).body.records
    await owner.call('POST', '/api/trash/restore-one', { id: trashed.id })
    expect(await textsOn(owner, path)).toEqual(['Stays with it'])
    expect(await found(owner, 'stays')).toHaveLength(1)
  })

  test('that is purged takes them for good, and no others', async () => {
    const { app, owner, items } = await opening()
    for (const { path } of items) await write(owner, path, path)
    await owner.call('DELETE', `/api/social-tasks/${items[1]!.id}`)
    await owner.call('DELETE', `/api/announcements/${items[3]!.id}`)
    const target = { filter: {} }
    expect((await owner.call('POST', '/api/trash/purge', { target })).body).toMatchObject({ affected: 2 })
    const { rows } = await sql<{ path: string }>`select kind || '/' || record_id as path from notes order by 1`.execute(
      app.database.db,
    )
    expect(rows.map(({ path }) => path)).toEqual([items[2]!.path, items[0]!.path].toSorted())
  })

  test('a note that is written while its task is deleted is refused or goes with it', async () => {
    const { app, owner, items } = await opening()
    const other = await testApp({ database: await openAgain() })
    for (let round = 0; round < 10; round += 1) {
      const task = { type: 'email', title: `Task ${round}`, reward: 1, priority: 10 + round }
      const { id } = (await owner.call('POST', '/api/social-tasks', task)).body
      const headers = { ...owner.headers, 'content-type': 'application/json' }
      const [written, removed] = await Promise.all([
        other.fetch(`/api/notes/socialTask/${id}`, { method: 'POST', headers, body: JSON.stringify({ text: 'Late' }) }),
        owner.call('DELETE', `/api/social-tasks/${id}`),
      ])
      expect(removed.status).toBe(200)
      expect([200, 404]).toContain(written.status)
      const { rows } = await sql`select id from notes where record_id = ${id}`.execute(app.database.db)
      expect(rows).toHaveLength(written.status === 200 ? 1 : 0)
    }
    expect(items).toHaveLength(4)
  })
})

describe('a mention', () => {
  const mentionsOf = async (client: Client): Promise<ShownNote[]> => (await client.call('GET', '/api/notes/mentions')).body.notes

  test('is shown to the colleague until it was seen, and stays seen when the note is changed', async () => {
    const { owner, editor, items } = await opening()
    const text = 'Please look, @Eve Editor and @Olga Owner'
    const id = await write(owner, items[0]!.path, text, [editor.id, owner.id])
    expect(await mentionsOf(editor)).toMatchObject([
      { id, text, kind: 'player', recordId: '7', title: 'Ada Moon', author: { name: 'Olga Owner' } },
    ])
    expect((await owner.call('POST', '/api/notes/seen', { ids: [id] })).status).toBe(200)
    expect(await mentionsOf(editor), 'each sees it alone').toHaveLength(1)
    await editor.call('POST', '/api/notes/seen', { ids: [id, 'none'] })
    expect(await mentionsOf(editor)).toEqual([])
    await owner.call('PUT', `/api/notes/${id}`, { text: `${text}!`, mentions: [editor.id] })
    expect(await mentionsOf(editor)).toEqual([])
    expect((await notesOn(owner, items[0]!.path))[0]).toMatchObject({ mentions: [{ id: editor.id, name: 'Eve Editor' }] })
  })

  test('is offered for, and accepted of, people who may read the record', async () => {
    const { app, owner, items } = await opening()
    const reviewer = await named(app, 'reviewer', 'Rita', 'Reviewer')
    const user = await named(app, 'user', 'Ulf', 'User')
    const people = async (kind: string) =>
      (await owner.call('GET', `/api/notes/colleagues?kind=${kind}`)).body.people.map(({ name }: { name: string }) => name)
    expect(await people('player')).toEqual(['Eve Editor', 'Olga Owner', 'Rita Reviewer'])
    expect(await people('socialTask')).toEqual(['Eve Editor', 'Olga Owner'])
    const refused = async (path: string, text: string, mentions: string[]) =>
      (await owner.call('POST', `/api/notes/${path}`, { text, mentions })).body.fields?.text
    const noReader = 'Somebody whom this note mentions may not read it, or is not in the team any more.'
    expect(await refused(items[1]!.path, '@Rita Reviewer', [reviewer.id])).toBe(noReader)
    expect(await refused(items[0]!.path, '@Ulf User', [user.id])).toBe(noReader)
    expect(await refused(items[0]!.path, 'x', ['none'])).toBe(noReader)
    expect(await refused(items[0]!.path, 'Rita Reviewer', [reviewer.id])).toBe('The note does not name @Rita Reviewer.')
    expect(await textsOn(owner, items[0]!.path)).toEqual([])
  })

  test('is not shown for what one may not read any more, nor for deleted notes and items', async () => {
    const { app, owner, editor, items } = await opening()
    const ids = [
      await write(owner, items[0]!.path, '@Eve Editor', [editor.id]),
      await write(owner, items[1]!.path, '@Eve Editor', [editor.id]),
    ]
    expect(await mentionsOf(editor)).toHaveLength(2)
    await owner.call('DELETE', `/api/notes/${ids[0]}`)
    expect((await mentionsOf(editor)).map(({ id }) => id)).toEqual([ids[1]])
    await owner.call('DELETE', `/api/social-tasks/${items[1]!.id}`)
    expect(await mentionsOf(editor)).toEqual([])
    await owner.call('POST', '/api/notes/restore', { noteId: ids[0] })
    expect(await mentionsOf(editor)).toHaveLength(1)
    await app.database.db.updateTable('users').set({ role: 'reviewer' }).where('id', '=', editor.id).execute()
    await sql`delete from sessions where user_id = ${editor.id}`.execute(app.database.db)
    const again = { cookie: `session=${await app.sessions.begin(editor.id)}` }
    const answer = await app.fetch('/api/notes/mentions', { headers: again })
    const shown = (await answer.json()) as { notes: { kind: string }[] }
    expect(shown.notes.map(({ kind }) => kind)).toEqual(['player'])
  })
})

test('ADR 22 an erased player has no notes, and nobody can write one', async () => {
  const { app, owner, items } = await opening()
  await write(owner, 'player/7', 'About Ada')
  await write(owner, 'player/8', 'About Bob')
  await write(owner, items[1]!.path, 'About a task')
  const erased = await owner.call('POST', '/api/telegram-users/7/erase', { confirmation: 7 })
  const { rows } = await sql<{ text: string }>`select text from notes order by created_at`.execute(app.database.db)
  expect(rows.map(({ text }) => text)).toEqual(['About Bob', 'About a task'])
  const path = `player/${erased.body.userId}`
  expect(await notesOn(owner, path)).toEqual([])
  expect((await owner.call('POST', `/api/notes/${path}`, { text: 'x' })).body.code).toBe('PLAYER_ERASED')
})

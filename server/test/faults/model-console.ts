/** The real console that stories compare with the model: a server process on the tests' database, with callers and access to its rows. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { playersSorts } from '@arcade/contract/players/fields'
import { beginActivity, addPlayerCount } from '#src/counters/activity.ts'
import { addToCounters } from '#src/counters/counters.ts'
import { writeHistoryItems } from '#src/items/history-items.ts'
import { diskStore } from '#src/files/disk.ts'
import { createFiles, type NewFile } from '#src/files/files.ts'
import { temporaryDataDir } from '#test/processes.ts'
import { type Client, PASSWORD, testApp } from '#test/test-app.ts'
import { emptyTables, workerUrl } from '#test/test-database.ts'
import { png } from '#test/test-images.ts'
import { addPlayers } from '#test/players.ts'
import { type ServerProcess, startServer } from './console-process.ts'
import type { Body, CallName, KnownCursor, Model, Task } from './model.ts'
import { storedPlayers } from './model-players.ts'
import { routes } from './requests.ts'
import { checkDerived } from './workload.ts'

/** Actions in the audit trail that the model does not count: exports, sign-ins, registrations and uploads. */
const UNCOUNTED = [
  'export',
  'session.begin',
  'session.refuse',
  'session.limit',
  'session.end',
  'session.revoke',
  'user.register',
  'file.upload',
]

const ANSWER_MS = 60_000
const IMPORTED = { id: 'imported', title: 'Imported' }
const TASKS: Task[] = (['social', 'social', 'social', 'daily', 'daily'] as const).map((collection, n) => ({
  id: `task-${n}`,
  collection,
  type: n % 2 === 0 ? 'moreLink' : collection === 'social' ? 'email' : 'telegram',
  title: 'Imported',
  link: null,
  reward: 1,
  priority: [0.3, 0.5, 0.9, 0.3, 0.9][n]!,
  version: 1,
}))
const IMAGE: NewFile = { folder: 'announcements', name: 'a.png', extension: 'png', bytes: png, thumb: png }

export interface Answer {
  status: number
  /** For downloads, the headers. */
  body: Body
}

export interface ModelConsole {
  /**
   * Empties the console and fills it with three people, a bot, players, tasks, an active announcement with an image, and an unused file.
   * Returns the model of that state.
   */
  reset(): Promise<Model>
  /** Sends a request. Resolves to undefined if there is no answer. @param caller its index in the model's callers */
  send(name: CallName, caller: number, input: Body, idempotencyKey?: string): Promise<Answer | undefined>
  /** Kills the server with `kill -9` after a delay and starts a new one. The server answers until then. */
  killAfter(delayMs: number): Promise<void>
  /** Reads the state from the database, in the form of `stateOf`. */
  readState(): Promise<State>
  /** Checks that counters fit the rows, and files the rows that name them. @throws Error if not */
  check(): Promise<void>
  stop(): Promise<void>
}

/** Everything that a story can change, as lists sorted by id. */
export type State = Record<
  'tasks' | 'announcements' | 'people' | 'history' | 'views' | 'trash' | 'undoableChanges' | 'callers' | 'numbers',
  unknown[]
>

export function stateOf(model: Model): State {
  const { tasks, announcements, people, history, views, defaultViews, trash, undoableChanges, callers, epoch, audited } = model
  const byId = <T extends { id: string }>(items: Map<string, T>): T[] =>
    [...items.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return {
    tasks: byId(tasks).map((task) => [
      task.id,
      task.collection,
      task.type,
      task.title,
      task.link,
      task.reward,
      task.priority,
      task.version,
    ]),
    announcements: byId(announcements).map((one) => [
      one.id,
      one.title,
      one.description,
      one.image,
      one.status,
      one.news,
      one.version,
    ]),
    people: byId(people).map(({ id, fname, email, userType, version }) => [id, fname, email, userType, version, true]),
    history: [...history].map(([key, title]) => [key, title]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    views: [
      ...byId(views).map((one) => [one.id, one.list, one.name, one.address, one.owner, one.privateTo, one.version]),
      ...[...defaultViews].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, view]) => [...key.split(' '), view]),
    ],
    trash: byKey(trash, ({ kind, recordId, id, actId }) => [kind, recordId, id, actId]),
    undoableChanges: byKey(undoableChanges, ({ kind, id, version, before, actId }) => [kind, id, version, before, actId]),
    callers: callers.map(({ personId, isBot }) => (isBot ? null : (personId ?? null))),
    numbers: [epoch, audited],
  }
}

function byKey<T>(items: Map<string, T>, rowOf: (item: T) => unknown[]): unknown[] {
  return [...items].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => rowOf(item))
}

/** Copies ids of deleted records and acts from the database's state into the model: the console generates them. */
export function learnIds({ trash, undoableChanges }: Model, state: State): void {
  for (const [kind, recordId, id, actId] of state.trash as string[][]) {
    const found = trash.get(`${kind} ${recordId}`)
    if (found) Object.assign(found, { id: found.id ?? id, actId: found.actId ?? actId })
  }
  for (const [kind, id, version, , actId] of state.undoableChanges as string[][]) {
    const found = undoableChanges.get(`${kind} ${id} ${version}`)
    if (found) found.actId ??= actId
  }
}

export async function startModelConsole(): Promise<ModelConsole> {
  const app = await testApp()
  const { db } = app.database
  const dataDir = await temporaryDataDir()
  const env = { DATABASE_URL: workerUrl() }
  const files = createFiles({
    database: app.database,
    store: diskStore(join(dataDir, 'files')),
    log: pino({ level: 'silent' }),
    trashDays: 30,
  })
  let server: ServerProcess = startServer(dataDir, env)
  let url = await server.ready
  /** The headers that identify each caller. */
  let identities: Record<string, string>[] = []
  let cursors: KnownCursor[] | undefined

  return {
    async reset() {
      await emptyTables()
      await rm(join(dataDir, 'files'), { recursive: true, force: true })
      const [image, unused] = [await files.put(IMAGE), await files.put(IMAGE)]
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto('announcements')
          .values({
            ...IMPORTED,
            type: 'desc',
            subtitle: 'Today',
            reward: 1,
            status: true,
            image_key: image,
            image_name: 'a.png',
          })
          .execute()
        await files.keep(tx, [image])
        await tx
          .insertInto('tasks')
          .values(TASKS.map(({ type, ...columns }) => ({ ...columns, image: type })))
          .execute()
        for (const collection of ['social', 'daily'] as const)
          await writeHistoryItems(tx, collection, { changed: TASKS.map(({ id }) => id) })
        await writeHistoryItems(tx, 'announcement', { changed: [IMPORTED.id] })
        await addPlayers(tx, storedPlayers)
        const activity = await beginActivity(tx)
        for (const { created_at: joinedAt } of storedPlayers) addPlayerCount(activity, joinedAt, 1)
        await addToCounters(tx, activity.deltas)
      })
      const emails = ['one@gmail.com', 'two@gmail.com', 'three@gmail.com']
      const clients = [
        await app.signUp('admin', emails[0]),
        await app.signUp('admin', emails[1]),
        await app.signUp('user', emails[2]),
      ]
      identities = [...clients, await app.bot('bot')].map(({ headers }) => headers)
      cursors ??= await readCursors(clients[0]!)
      const people = clients.map(({ id }, n) => {
        const userType = n < 2 ? ('admin' as const) : ('user' as const)
        return { id, fname: 'Test', email: emails[n]!, userType, version: 1, password: PASSWORD }
      })
      return {
        callers: [
          ...people.map(({ id, email }) => ({ name: email.split('@')[0]!, personId: id, isBot: false })),
          { name: 'bot', personId: undefined, isBot: true },
        ],
        people: new Map(people.map((person) => [person.id, person])),
        tasks: new Map(TASKS.map((task) => [task.id, task])),
        announcements: new Map([[IMPORTED.id, { ...IMPORTED, description: null, image, status: true, news: 0, version: 1 }]]),
        history: new Map([
          [`announcement ${IMPORTED.id}`, IMPORTED.title],
          ...TASKS.map(({ collection, id, title }): [string, string] => [`${collection} ${id}`, title]),
        ]),
        links: new Map(),
        views: new Map(),
        defaultViews: new Map(),
        trash: new Map(),
        undoableChanges: new Map(),
        files: [unused],
        cursors,
        epoch: 0,
        audited: 0,
      }
    },

    async send(name, caller, input, idempotencyKey) {
      const { path, body, method } = requestOf(name, input)
      const isFile = body instanceof Uint8Array
      const answer = await fetch(url + path, {
        method,
        headers: {
          ...identities[caller],
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(body !== undefined && { 'content-type': isFile ? 'image/png' : 'application/json' }),
        },
        ...(body !== undefined && { body: isFile ? new Uint8Array(body) : body }),
        signal: AbortSignal.timeout(ANSWER_MS),
      }).catch(() => undefined)
      const bytes = await answer?.arrayBuffer().catch(() => undefined)
      if (!answer || !bytes) return undefined
      const cookie = answer.headers.getSetCookie().find((text) => text.startsWith('session='))
      if (cookie !== undefined) identities[caller] = { cookie: cookie.split(';')[0]! }
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
      const content = isJson ? (JSON.parse(Buffer.from(bytes).toString()) as Body) : Object.fromEntries(answer.headers)
      return { status: answer.status, body: content }
    },

    async killAfter(delayMs) {
      await pause(delayMs)
      server.child.kill('SIGKILL')
      await server.ended
      // PostgreSQL may still execute statements of the killed server.
      await sql`select pg_terminate_backend(pid, ${ANSWER_MS}::bigint) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'arcade pool'`.execute(db)
      server = startServer(dataDir, env)
      url = await server.ready
    },

    async readState() {
      const tokens = identities.map(({ cookie = '' }) => createHash('sha256').update(cookie.replace('session=', '')).digest())
      const { rows } = await sql<State>`select
        ${list(`jsonb_build_array(id, collection, image, title, link, reward, priority, version) order by id collate "C"`)} from tasks) as tasks,
        ${list(`jsonb_build_array(id, title, description, image_key, status, news, version) order by id collate "C"`)} from announcements) as announcements,
        ${list(`jsonb_build_array(id, fname, u.email, user_type, version, a.id is not null) order by id collate "C"`)}
          from users u full join accounts a using (id)) as people,
        ${list(`jsonb_build_array(kind || ' ' || item_id, title) order by kind || ' ' || item_id collate "C"`)} from history_items) as history,
        ${list(`jsonb_build_array(id, list, name, address, owner_id, private_to, version) order by id collate "C"`)} from saved_views)
          || ${list(`jsonb_build_array(user_id, list, view_id) order by user_id collate "C", list collate "C"`)} from default_views) as views,
        ${list(`jsonb_build_array(kind, record_id, id, act_id) order by kind || ' ' || record_id collate "C"`)} from trash) as trash,
        ${list(`jsonb_build_array(record_kind, record_id, detail -> 'version', coalesce(changes -> 'priority', changes -> 'status') -> 0, act_id)
          order by record_kind || ' ' || record_id || ' ' || (detail ->> 'version') collate "C"`)} from audit_trail
          where action in ('task.priority', 'announcement.activate', 'announcement.deactivate')) as "undoableChanges",
        ${list('user_id order by place')} from unnest(${tokens}::bytea[]) with ordinality as t (token, place)
          left join sessions on token_hash = token) as callers,
        jsonb_build_array((select epoch from status_epoch), (select count(distinct act_id) from audit_trail where actor_kind not in ('command', 'system') and action not in (${sql.join(UNCOUNTED)}))) as numbers`.execute(
        db,
      )
      return rows[0]!
    },

    async check() {
      await checkDerived(app.database, diskStore(join(dataDir, 'files')))
    },

    async stop() {
      app.live.stop()
      server.child.kill('SIGKILL')
      await server.ended
    },
  }
}

/** Reads the cursor at the end of every page of five, in every order. */
async function readCursors(admin: Client): Promise<KnownCursor[]> {
  const found: KnownCursor[] = []
  for (const sort of playersSorts)
    for (const reversed of [false, true])
      for (let text: string | null = ''; text !== null;) {
        const from = text === '' ? '' : `&after=${text}`
        const { body } = await admin.call('GET', `/api/telegram-users?sort=${sort}&reversed=${reversed}${from}`)
        text = body.after as string | null
        if (text !== null) found.push({ text, sort, reversed, userId: body.users.at(-1).userId })
      }
  return found
}

function list(items: string) {
  return sql.raw(`(select coalesce(jsonb_agg(${items}), '[]')`)
}

function requestOf(name: CallName, input: Body): { method: string; path: string; body: string | Uint8Array | undefined } {
  const { method, path, isUpload } = routes.find((route) => route.name === name)!
  const rest = { ...input }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => {
    const { [param]: value } = rest
    delete rest[param]
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams(rest as Record<string, string>).toString()
  if (isUpload) return { method, path: `${filled}?${query}`, body: png }
  if (method === 'GET' || method === 'DELETE') return { method, path: query ? `${filled}?${query}` : filled, body: undefined }
  return { method, path: filled, body: JSON.stringify(rest) }
}

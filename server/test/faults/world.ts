/** A console for generated requests: the app on a port, one client for each principal, and records that requests can refer to. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { sealEntries } from '#src/audit/chain.ts'
import { takeTurn } from '#src/backup/turn.ts'
import { importDirectory } from '#src/import/import.ts'
import { hashToken } from '#src/identity/tokens.ts'
import { SAMPLE } from '#test/console-server.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { png } from '#test/test-images.ts'
import { encoded, type GeneratedRequest, type Pool, type Principal, resolved } from './requests.ts'

export interface Received {
  status: number
  headers: http.IncomingHttpHeaders
  bytes: Buffer
  milliseconds: number
}

/** A request as it went over the wire. */
export interface Sent {
  method: string
  path: string
  body: string | Uint8Array | undefined
  headers: Record<string, string>
}

export interface World {
  app: TestApp
  /** Sends a request. `change` describes what it changed in the database, if anything. */
  send(request: GeneratedRequest): Promise<{ sent: Sent; received: Received; change: string | undefined }>
  stop(): Promise<void>
}

/** Records of each kind that `restore` keeps available. */
const ENOUGH = 8
/** Node's answer to an address that is too long. Node then closes the connection without reading on, so the answer may be cut off. */
const HEADERS_TOO_LARGE = 431

/** SQL for a text that differs after any change by a call. */
const FINGERPRINT = `
  concat_ws(' ', (select count(*) from audit_trail where action not in ('export', 'session.refuse')), (select count(*) from accounts), (select sum(version) from users),
    (select count(*) || ' ' || max(created_at) from sessions),
    (select count(*) || ' ' || sum(version) || ' ' || sum(priority) from tasks),
    (select count(*) || ' ' || sum(version) from announcements), (select epoch from status_epoch),
    (select count(*) from history_items))`

/** SQL for the two records of a table with the newest audit entries: ids, numbers of those entries, and versions. */
const changedOf = (group: string, rows: string): string => {
  const changed = `(select one.id, one.version, max(seq) as seq from (select id, version from ${rows}) as one
    join audit_entries on record_id = one.id group by one.id, one.version order by max(seq) desc limit 2) as changed`
  return `'${group}Changed', array(select id from ${changed}), '${group}Entries', array(select seq from ${changed}),
    '${group}Versions', array(select version from ${changed})`
}

/**
 * Reads everything but players in one statement: a Citus cluster has players on its workers. $1 are the token hashes of sessions, $2 is
 * that of a password link.
 */
const STATE = `
  select ${FINGERPRINT} as fingerprint,
    (select coalesce(json_object_agg(encode(token_hash, 'hex'), user_type), '{}')
       from sessions join users on users.id = user_id where encode(token_hash, 'hex') = any($1::text[])) as sessions,
    exists (select from password_links where encode(token_hash, 'hex') = $2 and used_at is null) as "hasLink",
    array(select email from users order by id limit 5) as emails,
    json_build_object(
      'users', array(select id from users where user_type = 'user' order by id limit 20),
      'announcements', array(select id from announcements order by id limit 20),
      'pictures', array(select image_key from announcements where status and image_key is not null order by id limit 20),
      'views', array(select id from saved_views where private_to is null order by id limit 20),
      'notes', array(select id from notes where removed_at is null order by created_at desc, id limit 20),
      'removedNotes', array(select id from notes where removed_at is not null order by removed_at desc, id limit 20),
      'botTokens', array(select id from bot_tokens where name !~ '^bot \\d+$' order by id limit 20),
      'webhooks', array(select id from webhooks order by id limit 20),
      'deliveries', array(select id from webhook_deliveries order by created_at desc, id limit 2),
      'webhookOfDelivery', array(select webhook_id from webhook_deliveries order by created_at desc, id limit 2),
      'broadcasts', array(select id from broadcasts where state in ('scheduled', 'done') order by number limit 20),
      'trash', array(select id from trash order by deleted_at desc, id limit 20),
      'deletions', array(select act_id from trash group by act_id order by max(deleted_at) desc limit 20),
      'acts', array(select act_id from audit_entries where action in ('task.priority', 'announcement.activate', 'announcement.deactivate')
        group by act_id order by max(seq) desc limit 20),
      ${changedOf('users', 'users')},
      ${changedOf('announcements', 'announcements')},
      ${changedOf('socialTasks', `tasks where collection = 'social'`)},
      ${changedOf('dailyTasks', `tasks where collection = 'daily'`)}) as found,
    ${['social', 'daily']
      .map(
        (collection) => `
    (select coalesce(json_agg(one), '[]') from (
      select id, priority from tasks where collection = '${collection}' order by priority limit 20) as one) as "${collection}Order"`,
      )
      .join(',')}`

interface WorldState {
  fingerprint: string
  /** Token hash of a session → the role of its user. Ended sessions are missing. */
  sessions: Record<string, string>
  hasLink: boolean
  emails: string[]
  found: Partial<Record<Pool, unknown[]>>
  socialOrder: { id: string; priority: number }[]
  dailyOrder: { id: string; priority: number }[]
}

function hashOf({ headers }: Client): string {
  return hashToken(headers['cookie']?.split('=')[1] ?? '').toString('hex')
}

export async function createWorld(): Promise<World> {
  // Nothing is sent: broadcasts stay scheduled, and tests of them find no Telegram.
  const app = await testApp({ telegram: { botToken: '1:a', apiRoot: 'http://127.0.0.1:1' } })
  const { db } = app.database
  const folder = await mkdtemp(join(tmpdir(), 'arcade-world-'))
  await importDirectory({ database: app.database, directory: SAMPLE, rejectedPath: join(folder, 'rejected.ndjson') })
  await rm(folder, { recursive: true })

  // So no backup can be started: it would go on after its answer, and change what the requests after it are blamed for.
  const turn = await takeTurn(app.database)
  // Without a backup that is under way, each request for one would wait for the turn.
  await sql`insert into backups (id, place, is_scheduled, step) values ('under-way', '/none', true, 'tables')`.execute(db)
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, counts)
    values ('done', 1, 'none', 'Done', '{}', 'done', '{}')`.execute(db)

  const server = serve({ fetch: app.nodeFetch, port: 0, hostname: '127.0.0.1' }) as http.Server
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new http.Agent({ keepAlive: true })

  const [removed, ended] = [await app.signUp('user'), await app.signUp('admin')]
  let operator = await app.signUp('admin')
  await operator.call('DELETE', `/removeUser/${removed.id}`)
  await ended.call('GET', '/api/session') // puts the session into the cache, in which it must not stay
  await ended.call('DELETE', '/api/session')
  const stranger: Client = { ...app.guest, headers: { authorization: `Bearer ${'A'.repeat(43)}` } }
  const people = { guest: app.guest, removed, ended, stranger, bot: await app.bot(undefined, 'admin') } as Record<
    Principal,
    Client
  >

  let lastKnown: string | undefined
  const found = {} as Record<Pool, unknown[]>
  const values = async (query: ReturnType<typeof sql<{ value: unknown }>>) =>
    (await query.execute(db)).rows.map(({ value }) => value)
  const readFingerprint = app.database.prepared<{ text: string }>('world-fingerprint', `select ${FINGERPRINT} as text`)
  const readState = app.database.prepared<WorldState>('world-state', STATE)
  const readPlayers = app.database.prepared<{ userId: number }>(
    'world-players',
    'select user_id as "userId" from telegram_users where user_id > 0 order by user_id limit 20',
  )

  /** Reads the present state and fills the pools with it. */
  const look = async (): Promise<WorldState> => {
    await sealEntries(app.database)
    const hashes = [people.user, people.admin, operator].map((client) => (client ? hashOf(client) : ''))
    const [state] = await readState([hashes, hashToken(String(found.links?.[0])).toString('hex')])
    const { socialOrder, dailyOrder } = state!
    const players = (await readPlayers([])).map(({ userId }) => userId)
    Object.assign(found, state!.found, { socialOrder, dailyOrder, players, playerTexts: players.map(String) })
    found.emails = [...state!.emails, 'nobody@gmail.com']
    found.socialTasks = socialOrder.map(({ id }) => id)
    found.dailyTasks = dailyOrder.map(({ id }) => id)
    lastKnown = state!.fingerprint
    return state!
  }

  /** Repairs the world after a change: replaces users, sessions and links that are gone, and refills lists. */
  const restore = async (): Promise<void> => {
    const { sessions, hasLink } = await look()
    let isComplete = true
    const make = async <T>(making: Promise<T>): Promise<T> => {
      isComplete = false
      return making
    }
    const alive = async (client: Client | undefined, userType: 'user' | 'admin'): Promise<Client> => {
      const role = client && sessions[hashOf(client)]
      if (client && role === userType) return client
      if (client && role === undefined) people.ended = client // its session has just ended
      return make(app.signUp(userType))
    }
    people.user = await alive(people.user, 'user')
    people.admin = await alive(people.admin, 'admin')
    operator = await alive(operator, 'admin')
    if (found.pictures.length === 0) await make(showPicture())
    for (let n = 0; n < ENOUGH; n += 1) {
      const task = { title: `Task ${n}`, link: 'https://example.org', reward: n, priority: 1_000_000 * Math.random() }
      const add = (path: string, body: object) => make(operator.call('POST', path, body))
      if (found.socialTasks.length + n < ENOUGH) await add('/api/social-tasks', { ...task, type: 'twitter' })
      if (found.dailyTasks.length + n < ENOUGH) await add('/api/daily-tasks', { ...task, type: 'telegram' })
      if (found.announcements.length + n < ENOUGH)
        await add('/api/announcements', { type: 'desc', title: `News ${n}`, subtitle: 'Today', reward: n })
      if (found.users.length + n < ENOUGH) await make(app.signUp('user'))
      if (found.botTokens.length + n < ENOUGH) await add('/api/bot-tokens', { name: randomUUID() })
      if (found.webhooks.length + n < ENOUGH) {
        const { body } = await add('/api/webhooks', { url: 'https://bot.example/hook', events: ['announcement.activated'] })
        await operator.call('POST', `/api/webhooks/${body.id}/test`, {})
      }
      if (found.broadcasts.length + n < ENOUGH)
        await add('/api/broadcasts', { announcementId: found.announcements[0], sendAt: '2099-12-31T00:00:00Z' })
      // Only who wrote a note may change it.
      if (found.notes.length + n < ENOUGH)
        await make(people.admin.call('POST', `/api/notes/player/${String(found.playerTexts[0])}`, { text: `Note ${n}` }))
      if (found.views.length + n < ENOUGH)
        await add('/api/views', { list: 'users', name: randomUUID(), address: '', isShared: true })
    }
    if (isComplete && hasLink) return
    await look()
    found.links = [await passwordLink()]
    lastKnown = undefined
  }

  const passwordLink = async (): Promise<unknown> => {
    const answer = await operator.call('POST', '/api/password-links', { id: found.users[0] })
    return (answer.body as { path: string }).path.split('=')[1]
  }

  const upload = async (): Promise<unknown> => {
    const headers = { ...operator.headers, 'content-type': 'image/png' }
    const answer = await app.fetch('/api/files/announcements', { method: 'POST', headers, body: new Uint8Array(png) })
    return ((await answer.json()) as { key: string }).key
  }

  const showPicture = async (): Promise<void> => {
    const announcement = { type: 'desc', title: 'With a picture', subtitle: 'Today', reward: 1, image: await upload() }
    const { body } = await operator.call('POST', '/api/announcements', announcement)
    await operator.call('POST', `/api/announcements/${body.id}/status`, { status: false })
  }

  await restore()
  found.history = await values(sql`select item_id as value from history_items order by item_id limit 20`)
  found.files = [await upload(), await upload(), await upload()]
  const orders = ['balance', 'a-z', 'newest', 'user-id&reversed=true']
  const pages = await Promise.all(orders.map((sort) => operator.call('GET', `/api/telegram-users?sort=${sort}`)))
  found.cursors = pages.flatMap(({ body }) => [body.after, body.before]).filter((cursor) => typeof cursor === 'string')

  const find = (pool: Pool, n: number): unknown => found[pool][n % found[pool].length] ?? 'none'

  return {
    app,
    async send(request) {
      const inPath = (value: unknown) => encoded(String(value).replace('announcements/', ''))
      const query = request.query.map(([name, value]) => `${encoded(name)}=${encoded(resolved(value, find, String))}`)
      const sent: Sent = {
        method: request.method,
        path: resolved(request.path, find, inPath) + (query.length > 0 ? `?${query.join('&')}` : ''),
        body: typeof request.body === 'string' ? resolved(request.body, find, String) : request.body,
        headers: { ...request.headers, ...people[request.principal].headers },
      }
      const isQuiet = request.method === 'GET' && !request.path.includes('update-users-status')
      const before = (lastKnown ??= await fingerprint())
      const received = await exchange(sent)
      const after = isQuiet ? before : await fingerprint()
      if (before !== after) await restore()
      if (before !== after && request.call.startsWith('announcements.')) {
        found.files = [...found.files.slice(1), await upload()]
        lastKnown = undefined
      }
      return { sent, received, change: before === after ? undefined : `${before} → ${after}` }
    },

    async stop() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      app.live.stop()
      await turn.end()
    },
  }

  async function fingerprint(): Promise<string> {
    const [row] = await readFingerprint([])
    return row!.text
  }

  async function exchange({ method, path, body, headers }: Sent): Promise<Received> {
    const startedAt = performance.now()
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) } // also with a GET
    const request = http.request({ agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } })
    request.on('error', () => undefined) // `once` below reports the error
    request.end(body)
    const [response] = (await once(request, 'response').catch((error: unknown) => {
      // The server closes the connection while the rest of the headers is in transit, so a reset may destroy its answer (RFC 9112, 9.6).
      if (isReset(error) && headBytes(path, headers) > http.maxHeaderSize) return [undefined]
      throw error
    })) as [http.IncomingMessage | undefined]
    if (!response) return headersTooLarge(performance.now() - startedAt)
    const chunks: Buffer[] = []
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        if (response.headers['content-type']?.startsWith('text/event-stream')) break // an event stream never ends by itself
      }
    } catch (error) {
      if (response.statusCode !== HEADERS_TOO_LARGE) throw error
    }
    const milliseconds = performance.now() - startedAt
    if (response.statusCode === HEADERS_TOO_LARGE) return headersTooLarge(milliseconds)
    expect(response.complete || response.headers['content-type']?.startsWith('text/event-stream'), 'a whole answer').toBe(true)
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks), milliseconds }
  }
}

function headersTooLarge(milliseconds: number): Received {
  return { status: HEADERS_TOO_LARGE, headers: {}, bytes: Buffer.alloc(0), milliseconds }
}

function isReset(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNRESET'
}

function headBytes(path: string, headers: Record<string, string>): number {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return Buffer.byteLength([path, ...lines].join('\r\n'))
}

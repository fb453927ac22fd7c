/**
 * Somebody's rights are taken away while three servers answer this person: nothing that the person sends counts after the acknowledged
 * change, and each open stream ends. The audit tells: it has an entry of each act that was committed.
 */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '#src/db/database.ts'
import { createAccount } from '#src/identity/accounts.ts'
import { hashPassword } from '#src/identity/passwords.ts'
import { destroy } from '#src/postgres/connections.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { reportFigure, rounds } from '#test/size.ts'
import { PASSWORD } from '#test/test-app.ts'
import { countLockWaits, createDatabase } from '#test/test-database.ts'
import { png } from '#test/test-images.ts'
import { expectGoodEnd, signIn, signInAdmin, startServer } from './console-process.ts'

const SERVERS = 3
/** Writers on each server. */
const WRITERS = 2
/** Writes of each writer before the change. */
const WRITES = 5
/** How often each way is tried. */
const ROUNDS = rounds(1, 20)

interface Person {
  id: string
  cookie: string
  /** The cookie of a second session. */
  elsewhere: string
}

interface World {
  database: Database
  servers: string[]
  /** The cookie of an owner. */
  owner: string
}

type Way = (world: World, person: Person) => Promise<Answer>

/** The ways to lose rights. Each resolves when the change is acknowledged. */
const ways: Record<string, Way> = {
  'another role': ({ servers, owner }, { id }) =>
    send(servers[0]!, { method: 'PUT', path: `/api/users/${id}/role`, cookie: owner, body: { role: 'analyst' } }),
  'no admin any more': ({ servers, owner }, { id }) =>
    send(servers[0]!, { method: 'PUT', path: `/api/users/${id}/user-type`, cookie: owner, body: { userType: 'user' } }),
  removed: ({ servers, owner }, { id }) => send(servers[0]!, { method: 'DELETE', path: `/removeUser/${id}`, cookie: owner }),
  'session ended elsewhere': ({ servers }, { elsewhere }) =>
    send(servers[0]!, { method: 'DELETE', path: '/api/account/sessions', cookie: elsewhere }),
  'password changed': ({ servers }, { elsewhere }) => {
    const body = { currentPassword: PASSWORD, password: 'another horse', confirmPassword: 'another horse' }
    return send(servers[0]!, { method: 'PUT', path: '/api/account/password', cookie: elsewhere, body })
  },
}

test(
  'security: several servers: after the acknowledged loss of rights no act counts and each stream ends, however it began',
  { timeout: rounds(10 * 60_000, 6 * 3_600_000) },
  async () => {
    const url = await createDatabase('rights_taken', { isMigrated: true })
    const database = await openDatabase({ dataDir: '', url, use: 'command', log: pino({ level: 'silent' }) })
    onTestFinished(() => database.close())
    const started = await Promise.all(
      Array.from({ length: SERVERS }, async () => startServer(await temporaryDataDir(), { DATABASE_URL: url })),
    )
    const servers = await Promise.all(started.map(({ ready }) => ready))
    const world = { database, servers, owner: await signInAdmin(servers[0]!) }
    const passwordHash = await hashPassword(PASSWORD)
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, way] of Object.entries(ways)) {
        const email = `${name.replaceAll(' ', '-')}-${round}@gmail.com`
        const account = { fname: 'Ada', lname: 'B', email, passwordHash, userType: 'admin', role: 'manager' } as const
        const { id } = await database.transaction((tx) => createAccount(tx, account))
        const known = { email, password: PASSWORD }
        const person = { id, cookie: await signIn(servers[1]!, known), elsewhere: await signIn(servers[0]!, known) }
        const lastMs = await takeRights(world, person, { name, way })
        reportFigure(`rights taken (${name}): the last of ${2 * SERVERS} streams on ${SERVERS} servers ended after ${lastMs} ms`)
      }
    for (const server of started) await expectGoodEnd(server)
  },
)

/** Takes a person's rights away in the midst of all kinds of requests. Returns after how many milliseconds the last stream had ended. */
async function takeRights(world: World, person: Person, { name, way }: { name: string; way: Way }): Promise<number> {
  const { database, servers } = world
  const { cookie } = person
  const streams = await Promise.all(
    servers.flatMap((server) => ['', '?history=social'].map((query) => follow(server, cookie, query))),
  )
  const writers = servers.flatMap((server, index) =>
    Array.from({ length: WRITERS }, (_, writer) => write(server, { cookie, title: `${name} ${index} ${writer}` })),
  )
  const json = Buffer.from(JSON.stringify({ type: 'twitter', title: `${name} slow`, reward: 1, priority: 1 }))
  const exported = Buffer.from(JSON.stringify({ list: 'socialTasks', target: { filter: {} }, format: 'csv' }))
  const held = await holdTasks(world, name)
  const slow = servers.flatMap((server) => [
    sendSlowly(server, { method: 'POST', path: '/api/social-tasks', cookie, type: 'application/json', body: json }),
    sendSlowly(server, { method: 'POST', path: '/api/exports', cookie, type: 'application/json', body: exported }),
    sendSlowly(server, { method: 'POST', path: '/api/files/announcements?name=a.png', cookie, type: 'image/png', body: png }),
  ])
  await Promise.all(slow.map(({ begun }) => begun))
  await waitFor(`writes before: ${name}`, () => writers.every(({ count }) => count() >= WRITES))
  const waiting = held.ids.map((id, index) =>
    send(servers[index]!, { method: 'DELETE', path: `/api/social-tasks/${id}`, cookie }),
  )
  await waitFor('the acts to wait for a lock', async () => (await countLockWaits(database.db, '%tasks%')) >= SERVERS)

  const changed = await way(world, person)
  const changedAt = performance.now()
  const acts = await actsOf(world, person)
  expect(changed.status, `${name}: ${changed.text}`).toBe(200)
  await held.release()
  for (const { finish } of slow) finish()
  const statuses = {
    waiting: await Promise.all(waiting.map(async (answer) => (await answer).status)),
    slow: await Promise.all(slow.map(async ({ answer }) => (await answer).status)),
    writers: await Promise.all(writers.map(({ ended }) => ended)),
  }
  const lastAt = Math.max(...(await Promise.all(streams.map(({ ended }) => ended))))
  expect(await actsOf(world, person), `${name}: acts after the acknowledged change`).toEqual(acts)
  // An act that has waited too long for the lock is refused for that reason.
  for (const status of statuses.waiting) expect(status, `${name}: an act that waited for a lock`).toBeOneOf([401, 403, 503])
  for (const status of [...statuses.slow, ...statuses.writers]) expect(status, name).toBeOneOf([401, 403])
  return Math.round(Math.max(0, lastAt - changedAt))
}

/** What a person has done, by the audit. */
async function actsOf({ database }: World, { id }: Person): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select action || ' ' || coalesce(record_name, '') as what from audit_trail where actor_id = ${id} order by id`.execute(
    database.db,
  )
  return rows.map(({ what }) => what)
}

/** Makes a task for each server, and locks them until `release`. */
async function holdTasks({ database, servers, owner }: World, name: string) {
  const ids: string[] = []
  for (const server of servers) {
    const body = { type: 'twitter', title: `${name} held`, reward: 1, priority: nextPriority() }
    const { status, text } = await send(server, { method: 'POST', path: '/api/social-tasks', cookie: owner, body })
    expect(status, text).toBe(200)
    ids.push((JSON.parse(text) as { id: string }).id)
  }
  const holder = await database.connect('holder')
  onTestFinished(() => destroy(holder))
  await holder.query('begin')
  await holder.query('select from tasks where id = any($1) for update', [ids])
  return {
    ids,
    async release() {
      await holder.query('rollback')
      destroy(holder)
    },
  }
}

let priority = 1000

function nextPriority(): number {
  priority += 1
  return priority
}

/** Creates tasks one after the other until one is refused. */
function write(server: string, { cookie, title }: { cookie: string; title: string }) {
  let count = 0
  const run = async (): Promise<number> => {
    for (;;) {
      const body = { type: 'twitter', title, reward: 1, priority: nextPriority() }
      const { status, text } = await send(server, { method: 'POST', path: '/api/social-tasks', cookie, body })
      if (status === 200) count += 1
      else if (status === 503) await pause(50) // a busy server asks clients to send it again
      else if (status === 401 || status === 403) return status
      else throw new Error(`${title}: ${status} ${text}`)
    }
  }
  return { count: () => count, ended: run() }
}

interface Sent {
  method: string
  path: string
  cookie: string
}

interface Answer {
  status: number
  text: string
}

async function send(server: string, { body, cookie, method, path }: Sent & { body?: unknown }): Promise<Answer> {
  const response = await fetch(server + path, {
    method,
    headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** Sends the head of a request and half of its body. `begun` resolves when the server has read the head; `finish` sends the rest. */
function sendSlowly(server: string, { method, path, cookie, type, body }: Sent & { type: string; body: Uint8Array }) {
  const headers = { cookie, 'content-type': type, 'content-length': body.byteLength, expect: '100-continue' }
  const sending = request(server + path, { method, agent: false, headers })
  const answer = readAnswer(sending)
  answer.catch(() => undefined)
  const half = Math.floor(body.byteLength / 2)
  const begun = once(sending, 'continue').then(() => void sending.write(body.subarray(0, half)))
  sending.flushHeaders()
  onTestFinished(() => void sending.destroy())
  return { begun, answer, finish: () => void sending.end(body.subarray(half)) }
}

async function readAnswer(sending: ClientRequest): Promise<Answer> {
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of response) text += String(part)
  return { status: response.statusCode!, text }
}

/** Opens a stream of events and waits for its first one. `ended` resolves to the time at which the server has ended it. */
async function follow(server: string, cookie: string, query: string): Promise<{ ended: Promise<number> }> {
  const asking = request(`${server}/api/events${query}`, { agent: false, headers: { cookie } })
  onTestFinished(() => void asking.destroy())
  const answered = once(asking, 'response') as Promise<[IncomingMessage]>
  asking.end()
  const [response] = await answered
  expect(response.statusCode).toBe(200)
  const ended = once(response, 'end').then(() => performance.now())
  await once(response, 'data')
  response.resume()
  return { ended }
}

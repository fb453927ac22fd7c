/**
 * Writers that record of each write whether it was acknowledged, and a check of the data after a crash. Acknowledged writes must be
 * there; writes without an answer must be there completely or not at all, with their history, counters and files.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { expect } from 'vitest'
import { checkConsole } from '#src/cli/check.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { FileStore } from '#src/files/disk.ts'
import { waitFor } from '#test/processes.ts'
import { png } from '#test/test-images.ts'

/** Where an item is: `text` if it is in its list, `trashed` if it is in the trash, neither if it does not exist. */
interface Place {
  text?: string | undefined
  trashed?: string | undefined
  /** The key of its image. */
  image?: string | undefined
}

/** What a writer knows about one of its items. */
interface Item extends Place {
  collection: 'socialTasks' | 'announcements' | 'users'
  /** Undefined until its creation was acknowledged or found by a check. */
  id: string | undefined
  /** The place after a write that got no answer, if that write took effect. */
  maybe: Place | undefined
  hasImage: boolean
  /** All requests and their answers, for messages of failures. */
  story: string[]
}

export interface Workload {
  /** Writes until `isOver`. Waits while the server is away. */
  run(isOver: () => boolean): Promise<void>
  acknowledged: number
  /** Acknowledged writes that restored a record from the trash. */
  restored: number
  /** Acknowledged writes that purged a record from the trash. */
  purged: number
  /** Writes without an answer. */
  unknown: number
  /** Downloads that were read to their end. */
  downloads: number
  /** Checks the data against the writes, and learns which writes without an answer took effect. @throws Error at the first difference */
  check(database: Database, store: FileStore): Promise<void>
}

export const WRITERS = 3
const PAUSE_MS = 20
const AWAY_MS = 200
const ANSWER_MS = 60_000
const paths = { socialTasks: '/api/social-tasks', announcements: '/api/announcements', users: '/api/users' }

/** @param address returns the server's present address @param cookie returns an admin's session cookie */
export function createWorkload(random: () => number, address: () => string, cookie: () => string): Workload {
  const items: Item[] = []
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!

  const workload: Workload = {
    acknowledged: 0,
    restored: 0,
    purged: 0,
    unknown: 0,
    downloads: 0,
    async run(isOver) {
      // All items are shared out before the first writer starts: a writer at once creates an item, which another must not get too.
      const shares = [...Array(WRITERS).keys()].map((number) => items.filter((_, index) => index % WRITERS === number))
      const writer = async (own: Item[]): Promise<void> => {
        while (!isOver()) await write(own)
      }
      const reader = async (): Promise<void> => {
        while (!isOver()) await (random() < 0.5 ? download() : downloadImage())
      }
      await Promise.all([...shares.map(writer), reader()])
    },
    async check(database, store) {
      const { db } = database
      await endOfTransactions(db)
      await checkItems(db)
      await checkDerived(database, store)
    },
  }
  return workload

  async function write(own: Item[]): Promise<void> {
    const settled = own.filter(({ maybe, text, id }) => maybe === undefined && text !== undefined && id !== undefined)
    const item = pick(settled)
    const deleted = pick(own.filter(({ maybe, trashed, id }) => maybe === undefined && trashed !== undefined && id !== undefined))
    if (deleted !== undefined && random() < 0.3) return restoreOrPurge(deleted)
    if (item === undefined || random() < 0.4) return create(own)
    if (random() < 0.3) {
      const path = item.collection === 'users' ? `/removeUser/${item.id}` : `${paths[item.collection]}/${item.id}`
      await attempt(item, { trashed: item.text, image: item.image }, () => send('DELETE', path))
      return
    }
    const text = `${item.text!.split(' ')[0]} ${Math.floor(random() * 1e9)}`
    const method = item.collection === 'users' ? 'PATCH' : 'PUT'
    const body = item.collection === 'users' ? { fname: text, lname: 'Doe' } : await bodyOf(item, text)
    if (body) await attempt(item, { text, image: body.image }, () => send(method, `${paths[item.collection]}/${item.id}`, body))
  }

  async function create(own: Item[]): Promise<void> {
    const collection = pick(['socialTasks', 'socialTasks', 'announcements', 'announcements', 'users'] as const)
    const text = `item${items.length} new`
    const item: Item = { collection, id: undefined, maybe: undefined, hasImage: random() < 0.7, story: [] }
    items.push(item)
    own.push(item)
    const body = await bodyOf(item, text)
    if (!body) return
    await attempt(item, { text, image: body.image }, async () => {
      const answer = await send('POST', collection === 'users' ? '/registerUser' : paths[collection], body)
      if (answer.status === 200) item.id = answer.body['id'] as string
      return answer
    })
  }

  async function restoreOrPurge(item: Item): Promise<void> {
    const search = encodeURIComponent(item.trashed!.split(' ')[0]!)
    const found = await send('GET', `/api/trash?search=${search}`).catch(() => undefined)
    if (found?.status !== 200) return pause(PAUSE_MS)
    const records = found.body['records'] as { id: string; recordId: string }[]
    const id = records.find(({ recordId }) => recordId === item.id)?.id
    expect(id, `${item.trashed} is in the trash`).toBeDefined()
    if (random() < 0.7) {
      const restored = { text: item.trashed, image: item.image }
      if (await attempt(item, restored, () => send('POST', '/api/trash/restore-one', { id }))) workload.restored += 1
      return
    }
    const target = { ids: [id] }
    if (await attempt(item, {}, () => send('POST', '/api/trash/purge', { target, dryRun: false }))) workload.purged += 1
  }

  /** Returns the body of a request that sets this text; `undefined` if the image could not be uploaded. */
  async function bodyOf({ collection, hasImage }: Item, text: string): Promise<Body | undefined> {
    if (collection === 'socialTasks') return { type: 'twitter', title: text, reward: 1, priority: 1e6 * random() }
    if (collection === 'users') {
      const email = `u${Math.floor(random() * 1e12)}@gmail.com`
      return { fname: text, lname: 'Doe', email, password: 'correct horse', confirmPassword: 'correct horse' }
    }
    const content = { type: 'desc', title: text, subtitle: 'Today', reward: 1 }
    if (!hasImage) return content
    const answer = await send('POST', '/api/files/announcements?name=a.png', png).catch(() => undefined)
    if (answer?.status === 200) return { ...content, image: answer.body['key'] as string, imageName: 'a.png' }
    await pause(PAUSE_MS)
    return undefined
  }

  /** Runs a change that leads to the place `after`. Returns whether it was acknowledged. */
  async function attempt(item: Item, after: Place, change: () => Promise<Answer>): Promise<boolean> {
    item.maybe = after
    const answer = await change().catch((error: Error) => (isRefused(error) ? 'not sent' : undefined))
    item.story.push(
      `${JSON.stringify(after)}: ${answer === 'not sent' ? answer : (answer?.status ?? 'no answer')} ${new Date().toISOString()}`,
    )
    if (answer === 'not sent') {
      item.maybe = undefined
      await pause(AWAY_MS)
      return false
    }
    if (answer?.status === 200) {
      Object.assign(item, { ...placeOf(after), maybe: undefined })
      workload.acknowledged += 1
      return true
    }
    workload.unknown += 1
    expect(
      answer === undefined || answer.status >= 500,
      `a write was refused: ${answer?.status} ${JSON.stringify(answer?.body)}, after ${item.story.join('; ')}`,
    ).toBe(true)
    await pause(PAUSE_MS)
    return false
  }

  interface Answer {
    status: number
    body: Record<string, unknown>
  }

  interface Body extends Record<string, unknown> {
    image?: string
  }

  async function send(method: string, path: string, body?: Record<string, unknown> | Uint8Array): Promise<Answer> {
    const isFile = body instanceof Uint8Array
    const answer = await fetch(address() + path, {
      method,
      headers: { cookie: cookie(), ...(body !== undefined && { 'content-type': isFile ? 'image/png' : 'application/json' }) },
      ...(body !== undefined && { body: isFile ? new Uint8Array(body) : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  /** Downloads a spreadsheet. It must either fail or be complete. */
  async function download(): Promise<void> {
    const path = pick(['/downloadTelegramUsersData', '/downloadUsersData'])
    const bytes = await fetch(address() + path, { headers: { cookie: cookie() }, signal: AbortSignal.timeout(ANSWER_MS) })
      .then(async (answer) => (answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : undefined))
      .catch(() => undefined)
    if (bytes === undefined) {
      await pause(PAUSE_MS)
      return
    }
    workload.downloads += 1
    expect(bytes.subarray(-22, -18).toString('latin1'), 'a download that ended well is whole').toBe('PK\x05\x06')
  }

  /** Downloads the image of an acknowledged item. Every server must serve it completely, unless the item changes meanwhile. */
  async function downloadImage(): Promise<void> {
    const item = pick(items.filter(({ image, text, maybe }) => image !== undefined && text !== undefined && maybe === undefined))
    if (item === undefined) return pause(PAUSE_MS)
    const before = item.story.length
    const answer = await fetch(`${address()}/api/files/${item.image}`, {
      headers: { cookie: cookie() },
      signal: AbortSignal.timeout(ANSWER_MS),
    })
      .then(async (response) => ({ status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }))
      .catch(() => undefined)
    if (answer === undefined || answer.status >= 500 || item.maybe !== undefined || item.story.length !== before)
      return pause(PAUSE_MS)
    expect(answer.status, `the image of ${item.text}, after ${item.story.join('; ')}`).toBe(200)
    expect(answer.bytes.subarray(-8, -4).toString('latin1'), 'an image that was read to its end is whole').toBe('IEND')
    workload.downloads += 1
  }

  async function checkItems(db: Kysely<Tables>): Promise<void> {
    const { rows } = await sql<{ id: string; text: string; image: string | null; isTrashed: boolean; isWhole: boolean }>`
      select id, title as text, null as image, false as "isTrashed",
             exists (select from history_items where kind = 'social' and item_id = id and history_items.title = tasks.title) as "isWhole"
        from tasks where collection = 'social' and title like 'item%'
      union all select id, title, image_key, false, exists (select from history_items where kind = 'announcement' and item_id = id and history_items.title = announcements.title)
        from announcements where title like 'item%'
      union all select users.id, fname, null, false, accounts.id is not null from users left join accounts using (id) where fname like 'item%'
      union all select record_id, coalesce(content #>> '{row,fname}', name), content #>> '{row,image_key}', true, kind <> 'user' or jsonb_typeof(content -> 'account') = 'object'
        from trash where name like 'item%'`.execute(db)
    expect(
      rows.filter(({ isWhole }) => !isWhole),
      'items without their history or account',
    ).toEqual([])
    const stored = Map.groupBy(rows, ({ text }) => text.split(' ')[0]!)
    for (const [number, item] of items.entries()) {
      const found = stored.get(`item${number}`) ?? []
      expect(found.length, `item${number} is there once, or in the trash`).toBeLessThanOrEqual(1)
      const [row] = found
      const text = row?.isTrashed ? undefined : row?.text
      const place: Place = { text, trashed: row?.isTrashed ? row.text : undefined, image: row?.image ?? undefined }
      const possible = [item, ...(item.maybe ? [item.maybe] : [])].map(placeOf)
      expect(possible, `item${number} of ${item.collection}`).toContainEqual(place)
      if (item.id !== undefined && row) expect(row.id).toBe(item.id)
      Object.assign(item, { ...place, id: row?.id, maybe: undefined })
      item.story.push(`found ${JSON.stringify(place)}`)
      stored.delete(`item${number}`)
    }
    expect([...stored.keys()], 'items that nobody made').toEqual([])
  }
}

function placeOf({ text, trashed, image }: Place): Place {
  return { text, trashed, image }
}

/** Waits until no transaction runs: PostgreSQL finishes statements of a killed server, so a write without an answer may still commit. */
async function endOfTransactions(db: Kysely<Tables>): Promise<void> {
  await waitFor('an end of the transactions that run', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and application_name = 'arcade pool' and state is distinct from 'idle' and pid <> pg_backend_pid()`.execute(
      db,
    )
    return rows.length === 0
  })
}

/** Whether the connection was refused, so that nothing was sent. */
function isRefused({ cause }: Error): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
}

/** Expects `arcade check` to find nothing. check.test.ts proves that it finds such differences. */
export async function checkDerived(database: Database, store: FileStore): Promise<void> {
  const differences: string[] = []
  await checkConsole({ database, store, onDifference: (text) => differences.push(text) })
  expect(differences, 'counters, history documents and files').toEqual([])
}

/** Eight clients change tasks, announcements and users at the same time, through two servers on one database (security.md, Concurrency). */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { PASSWORD, type Client, type TestAnswer, testApp } from '#test/test-app.ts'
import { countDeadlocks, openAgain, testDatabase } from '#test/test-database.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import { type Act, type AuditEntry, checkHistory, type Collection, type FinalItem, type Observation } from './history.ts'

const CLIENTS = 8
const SERVERS = 2
const TIMEOUT_MS = 60 * 60_000
/** Tasks in each group that is renumbered. */
const GROUP = 20

/** What clients know about an item: its newest version that any of them has read. */
interface Known {
  id: string
  collection: Collection
  version: number
  priority: number
  status: boolean
}

/** An item in an answer. */
type Row = Omit<Known, 'collection'> & { title?: string; fname?: string }

const paths = { social: '/api/social-tasks', daily: '/api/daily-tasks', announcement: '/api/announcements', user: '/api/users' }

test('security: concurrency: no lost update, no phantom success, counts equal rows', { timeout: TIMEOUT_MS }, async () => {
  const operations = rounds(1_000, 10_000)
  const { db } = await testDatabase()
  const deadlocks = await countDeadlocks()
  const databases = await Promise.all(Array.from({ length: SERVERS }, () => openAgain()))
  const apps = await Promise.all(databases.map((database) => testApp({ database })))
  onTestFinished(() => apps.forEach((app) => app.live.stop()))
  const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => apps[n % SERVERS]!.signUp('admin')))
  const random = seededRandom()
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const known = new Map<string, Known>()
  const acts: Act[] = []
  const observations: Observation[] = []
  let clock = 0
  let texts = 0
  let begun = 0

  const startedAt = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      while (begun < operations) {
        begun += 1
        await operate(client)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const present = await finalItems()
  checkHistory(acts, observations, await auditEntries(), present)
  await expectCounts()
  for (const database of databases) await database.close()
  expect(await countDeadlocks(), 'deadlocks').toBe(deadlocks)
  const refused = acts.filter(({ refusal }) => refusal !== undefined)
  expect(refused.length, 'more than 1 % of operations conflicted').toBeGreaterThan(operations / 100)
  reportFigure(
    `races: ${operations} operations of ${CLIENTS} clients in ${seconds.toFixed(0)} s, ${acts.length - refused.length} changes, ` +
      `${refused.length} refused, ${observations.length} seen, ${present.length} items in the end`,
  )

  async function operate(client: Client): Promise<void> {
    // Half of the time, all clients choose among the few oldest items, so that they conflict.
    const one = known.size === 0 ? undefined : pick([...known.values()].slice(0, random() < 0.5 ? CLIENTS / 2 : undefined))
    const chance = random()
    if (one === undefined || chance < 0.12) return create(client)
    if (chance < 0.3) return look(client, one)
    if (chance < 0.35) return lookAtAll(client, one.collection)
    if (chance < 0.6) return update(client, one)
    if (chance < 0.68) return remove(client, one)
    const others = [...known.values()].filter(({ collection }) => collection === one.collection)
    const some = [...new Set([one, pick(others), pick(others)])]
    const ids = some.map(({ id }) => id)
    if (chance < 0.72) return bulk(client, 'remove', `${paths[one.collection]}/remove`, ids, { dryRun: random() < 0.7 })
    if (one.collection === 'user') {
      const userType = pick(['admin', 'user'])
      const act = { name: 'setUserType', ids: [one.id], isAudited: 'maybe' as const }
      await change(client, act, 'PUT', `/api/users/${one.id}/user-type`, { userType })
      return
    }
    if (one.collection === 'announcement') {
      if (chance < 0.8)
        return bulk(client, 'status', '/api/announcements/status', ids, { status: random() < 0.5, dryRun: random() < 0.2 })
      const act = { name: 'toggle', ids: [one.id] }
      const answer = await change(client, act, 'POST', `/api/announcements/${one.id}/status`, { status: one.status })
      if (answer.status !== 200) await look(client, one)
      return
    }
    if (chance < 0.78) {
      const first = freshPriority()
      return bulk(client, 'prioritise', `${paths[one.collection]}/priorities`, ids, {
        first,
        step: 0.001,
        dryRun: random() < 0.2,
      })
    }
    if (some.length < 2) return look(client, one)
    const tasks = some.map(({ id, priority }) => ({ id, priority }))
    const isSorted = tasks.every(({ priority }, index) => index === 0 || priority > tasks[index - 1]!.priority)
    const act = { name: 'reorder', ids, isAudited: isSorted ? ('no' as const) : ('yes' as const) }
    const answer = await change(client, act, 'POST', `${paths[one.collection]}/order`, { tasks })
    if (answer.status !== 200) await lookAtAll(client, one.collection)
  }

  async function create(client: Client): Promise<void> {
    const collection = random() < 0.1 ? 'user' : pick(['social', 'daily', 'announcement'] as const)
    const text = nextText()
    const isContended = random() < 0.3
    const act = { name: 'create', ids: [], text, isContended }
    const path = collection === 'user' ? '/registerUser' : paths[collection]
    const answer = await change(
      client,
      act,
      'POST',
      path,
      bodyOf(collection, text, isContended ? Math.ceil(random() * 20) : freshPriority()),
    )
    if (answer.status === 200) await look(client, { id: answer.body.id, collection, version: 0, priority: 0, status: false })
  }

  async function update(client: Client, one: Known): Promise<void> {
    const text = nextText()
    const isContended = random() < 0.2
    const seen = random() < 0.85 ? { version: one.version } : {}
    const act = { name: 'update', ids: [one.id], text, isContended, ...seen }
    const body = { ...bodyOf(one.collection, text, isContended ? Math.ceil(random() * 20) : freshPriority()), ...seen }
    if (one.collection === 'user')
      for (const name of ['email', 'password', 'confirmPassword']) delete (body as Record<string, unknown>)[name]
    const answer = await change(
      client,
      act,
      one.collection === 'user' ? 'PATCH' : 'PUT',
      `${paths[one.collection]}/${one.id}`,
      body,
    )
    if (answer.status !== 200 || random() < 0.5) await look(client, one)
  }

  async function remove(client: Client, one: Known): Promise<void> {
    const path = one.collection === 'user' ? `/removeUser/${one.id}` : `${paths[one.collection]}/${one.id}`
    await change(client, { name: 'remove', ids: [one.id] }, 'DELETE', path)
    if (random() < 0.9) known.delete(one.id) // in the other cases clients use the removed item again
  }

  /** Sends a bulk act. One that changes nothing writes no audit entry. */
  async function bulk(
    client: Client,
    name: string,
    path: string,
    ids: string[],
    rest: { dryRun: boolean; [field: string]: unknown },
  ): Promise<void> {
    const answer = await change(client, { name, ids }, 'POST', path, { target: { ids }, ...rest })
    if (answer.status !== 200) return
    if (rest.dryRun || answer.body.affected === 0)
      acts.find(({ requestId }) => requestId === requestIdOf(answer))!.isAudited = 'no'
    if (name === 'remove' && !rest.dryRun) for (const id of ids) known.delete(id)
  }

  async function change(
    client: Client,
    act: Pick<Act, 'name' | 'ids'> & Partial<Act>,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<TestAnswer> {
    const from = (clock += 1)
    const answer = await client.call(method, path, body)
    const refusal = answer.status === 200 ? undefined : answer.body.code
    const ids = act.ids.length > 0 || refusal ? act.ids : [answer.body.id]
    acts.push({ isAudited: 'yes', ...act, ids, from, to: (clock += 1), refusal, requestId: requestIdOf(answer) })
    expect(answer.status, `${act.name}: ${answer.body.message}`).toBeLessThan(500)
    return answer
  }

  async function look(client: Client, one: Known): Promise<void> {
    const from = (clock += 1)
    const { status, body } = await client.call('GET', `${paths[one.collection]}/${one.id}`)
    if (status === 200) see(body, one.collection, from)
    else known.delete(one.id)
  }

  async function lookAtAll(client: Client, collection: Collection): Promise<void> {
    const from = (clock += 1)
    const { body } = await client.call('GET', paths[collection])
    const rows = (body.tasks ?? body.announcements ?? body.users) as Row[]
    for (const row of rows) if (known.has(row.id)) see(row, collection, from)
  }

  function see(row: Row, collection: Collection, from: number): void {
    const { id, version, priority, status } = row
    observations.push({ id, version, text: row.title ?? row.fname ?? '', from, to: (clock += 1) })
    const before = known.get(id)
    if (before === undefined || before.version < version) known.set(id, { id, collection, version, priority, status })
  }

  function nextText(): string {
    return `text ${(texts += 1)}`
  }

  /** A priority that no other client asks for. */
  function freshPriority(): number {
    return 1000 + (texts += 1)
  }

  function bodyOf(collection: Collection, text: string, priority: number) {
    if (collection === 'announcement') return { type: 'desc', title: text, subtitle: 'Today', reward: 1 }
    if (collection === 'user')
      return { fname: text, lname: 'Doe', email: `racer${texts}@gmail.com`, password: PASSWORD, confirmPassword: PASSWORD }
    return { type: 'twitter', title: text, link: '', reward: 1, priority }
  }

  async function finalItems(): Promise<FinalItem[]> {
    const ours = clients.map(({ id }) => id)
    const { rows } = await sql<FinalItem>`
      select id, version, title as text from tasks union all select id, version, title from announcements
      union all select id, version, fname from users where id <> all(${ours})`.execute(db)
    return rows
  }

  async function auditEntries(): Promise<AuditEntry[]> {
    const { rows } = await sql<AuditEntry>`
      select act_id as "requestId", action, json_agg(record_id) as ids from audit_trail
       group by act_id, action order by min(at)`.execute(db)
    return rows
  }

  async function expectCounts(): Promise<void> {
    const { body: metrics } = await clients[0]!.call('GET', '/api/metrics')
    const { rows } = await sql<Record<string, number>>`
      select (select count(*) from users) as users, (select count(*) from users where user_type = 'admin') as admins,
        (select count(*) from accounts) as accounts, (select count(*) from tasks) as tasks,
        (select count(*) from announcements where status) as active, (select epoch from status_epoch) as epoch,
        (select count(distinct (collection, priority)) from tasks) as priorities,
        (select count(*) from history_items) as history,
        (select count(*) from audit_trail where action in ('task.create', 'announcement.create')) as made,
        (select count(*) from audit_trail where action = 'announcement.activate') as activated`.execute(db)
    const counted = rows[0]!
    expect(metrics).toMatchObject({
      totalUsers: counted['users'],
      userTypes: { admin: counted['admins'], user: counted['users']! - counted['admins']! },
      activeAnnouncements: counted['active'],
      totalTasks: counted['tasks'],
    })
    expect(counted['accounts']).toBe(counted['users'])
    expect(counted['priorities']).toBe(counted['tasks'])
    expect(counted['history'], 'every item has its history').toBe(counted['made'])
    expect(counted['epoch'], 'players hear of every activation').toBe(counted['activated'])
  }
})

test('§5 two admins who renumber tasks with each other’s priorities, during reorders, updates and new tasks: no deadlock', async () => {
  const { db } = await testDatabase()
  const deadlocks = await countDeadlocks()
  const databases = await Promise.all(Array.from({ length: SERVERS }, () => openAgain()))
  const apps = await Promise.all(databases.map((database) => testApp({ database })))
  onTestFinished(() => apps.forEach((app) => app.live.stop()))
  const [one, other] = (await Promise.all(apps.map((app) => app.signUp('admin')))) as [Client, Client]
  const stored = (group: number) =>
    Array.from({ length: GROUP }, (_, n) => ({ id: `t${group}-${n}`, priority: 1000 * group + n, title: 'Task', reward: 1 }))
  const groups = [stored(0), stored(1), stored(2)] as const
  const values = groups.flat().map((task) => ({ ...task, collection: 'social' as const, image: 'twitter' }))
  await db.insertInto('tasks').values(values).execute()
  const count = rounds(20, 500)
  const refused = new Map<string, number>()

  for (let round = 1; round <= count; round += 1) {
    const number = (client: Client, group: 0 | 1, first: number) =>
      client.call('POST', `${paths.social}/priorities`, { target: { ids: groups[group].map(({ id }) => id) }, first, step: 1 })
    const task = { type: 'twitter', title: 'Task', reward: 1, priority: 3000 + round }
    const others = await sql<{ id: string; priority: number }>`
      select id, priority from tasks where id like 't2-%' order by priority desc`.execute(db)
    const answers = await Promise.all([
      number(one, 0, 1000),
      number(other, 1, 0),
      one.call('POST', `${paths.social}/order`, { tasks: others.rows }),
      other.call('PUT', `${paths.social}/t2-${round % GROUP}`, task),
      one.call('POST', paths.social, task),
    ])
    for (const { status, body } of answers) {
      if (status === 200) continue
      expect(['PRIORITY_TAKEN', 'STALE'], body.message).toContain(body.code)
      refused.set(body.code, (refused.get(body.code) ?? 0) + 1)
    }
    expect(answers.slice(0, 2).map(({ body }) => body.code)).toEqual(['PRIORITY_TAKEN', 'PRIORITY_TAKEN'])
  }
  for (const database of databases) await database.close()
  expect(await countDeadlocks(), 'deadlocks').toBe(deadlocks)
  reportFigure(`races: ${count} rounds of numbering, refused: ${[...refused].map(([code, n]) => `${code} ${n}`).join(', ')}`)
})

function requestIdOf({ headers }: TestAnswer): string {
  return headers.get('x-request-id') ?? ''
}

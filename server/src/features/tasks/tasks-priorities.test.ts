/** Many simultaneous changes of priorities, on one server and on several that share a database. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type Client, testApp } from '#test/test-app.ts'
import { countDeadlocks, openAgain, testDatabase } from '#test/test-database.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'

const path = '/api/social-tasks'
const CALLERS = 20

test.for([1, 3])(
  '§5 one of 20 callers who want one priority at once gets it on %i server(s); the others get PRIORITY_TAKEN',
  async (servers) => {
    const { db } = await testDatabase()
    const databases = await Promise.all(Array.from({ length: servers }, () => openAgain()))
    const apps = await Promise.all(databases.map((database) => testApp({ database })))
    const admins = await Promise.all(apps.map((app) => app.signUp('admin')))
    const values = Array.from({ length: 2 * CALLERS }, (_, index) => ({
      collection: 'social' as const,
      id: `t${index}`,
      ...task(index),
    }))
    await db
      .insertInto('tasks')
      .values(values.map(({ type, ...columns }) => ({ ...columns, image: type })))
      .execute()
    const deadlocks = await countDeadlocks()
    const random = seededRandom()
    const count = rounds(30, 1_000)
    const durations: number[] = []

    for (let round = 0; round < count; round += 1) {
      const wanted = 1_000 + round
      const listed: { id: string; priority: number }[] = (await admins[0]!.call('GET', path)).body.tasks
      const present = listed.slice(0, CALLERS)
      const start = performance.now()
      const outcomes = await Promise.all(
        Array.from({ length: CALLERS }, async (_, caller) => {
          const admin = admins[caller % admins.length]!
          const one = present[caller]! // each caller has another task, because two callers may give the same task the same priority
          const kind = random()
          if (kind < 0.15) return { claims: false, ...(await reorder(admin, shuffled(present, random))) }
          if (kind < 0.3) {
            // All of these want the same two priorities, and get them one after the other.
            const target = { ids: [one.id, listed[CALLERS + caller]!.id] }
            return { claims: false, ...(await admin.call('POST', `${path}/priorities`, { target, first: 500, step: 1 })) }
          }
          const answer =
            kind < 0.6
              ? admin.call('POST', path, task(wanted))
              : kind < 0.9
                ? admin.call('PUT', `${path}/${one.id}`, task(wanted))
                : admin.call('POST', `${path}/priorities`, { target: { ids: [one.id] }, first: wanted, step: 1 })
          return { claims: true, ...(await answer) }
        }),
      )
      durations.push(performance.now() - start)

      const claims = outcomes.filter(({ claims: isClaim }) => isClaim).map(({ status, body }) => `${status} ${body.message}`)
      expect(
        claims.toSorted((a, b) => a.localeCompare(b)),
        `round ${round}`,
      ).toEqual(['200 undefined', ...claims.slice(1).map(() => '409 Priority is already taken!')])
      const orders = outcomes.filter(({ claims: isClaim }) => !isClaim).map(({ status, body }) => body.code ?? status)
      expect(orders.filter((outcome) => ![200, 'STALE', 'PRIORITY_TAKEN'].includes(outcome))).toEqual([])
      const { rows } = await sql<{ priority: number }>`select priority from tasks where collection = 'social'`.execute(db)
      expect(rows.filter(({ priority }) => priority === wanted)).toHaveLength(1)
      expect(rows.filter(({ priority }) => priority > wanted)).toEqual([])
    }

    for (const database of databases) await database.close()
    expect(await countDeadlocks()).toBe(deadlocks)
    const sorted = durations.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor((count - 1) * share)]!.toFixed(0)
    reportFigure(`${count} rounds of ${CALLERS} on ${servers} server(s): median ${at(0.5)} ms, worst ${at(1)} ms`)
  },
)

const task = (priority: number) => ({ type: 'twitter' as const, priority, title: `Task ${priority}`, reward: 1 })

async function reorder(admin: Client, tasks: { id: string; priority: number }[]) {
  return admin.call('POST', `${path}/order`, { tasks: tasks.map(({ id, priority }) => ({ id, priority })) })
}

function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Claims of an item with limits, whose last place must go to one, and of other items beside it. */
import { sql } from 'kysely'
import type { Database } from '../server/src/db/database.ts'
import { type Claiming, claimUntil } from './claiming.ts'
import { median, report } from './measuring.ts'

const ROUNDS = 3
const LIMITED = 'bench-limited'

interface Options {
  database: Database
  /** The load: half of the clients claim the same item, and the other half claim the other tasks. */
  load: Omit<Claiming, 'until'>
  seconds: number
  /** Brings the tables into the state of some minutes later. */
  settle: () => Promise<void>
}

export async function reportLimited({ database, load, seconds, settle }: Options): Promise<void> {
  const [ordinary, ...others] = load.tasks
  await sql`insert into tasks (collection, id, image, priority, title, reward, max_participants, daily_budget)
    select collection, ${LIMITED}, image, priority + 0.5, title, reward, 2000000000, 9000000000 from tasks where id = ${ordinary!}`.execute(
    database.db,
  )
  const without: [item: number, others: number][] = []
  const limited: [item: number, others: number][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await claimBeside({ ...load, seconds }, ordinary!, others))
    await settle()
    limited.push(await claimBeside({ ...load, seconds }, LIMITED, others))
    await settle()
  }
  for (const [place, name] of [
    [0, 'claims of one item with both limits, by half of the clients; limit: without'],
    [1, 'claims of other items by the other half; limit: beside an item without limits'],
  ] as const) {
    const [ours, limit] = [limited, without].map((rounds) => median(rounds.map((rates) => rates[place]))) as [number, number]
    report(name, { ours, limit, ratio: ours / limit, unit: 'a second' })
  }
}

/** @returns the claims per second of the item, and of the others */
async function claimBeside(
  { seconds, ...load }: Omit<Claiming, 'until'> & { seconds: number },
  item: string,
  others: string[],
): Promise<[number, number]> {
  const half = { ...load, clients: load.clients / 2, until: Date.now() + seconds * 1000 }
  const claimed = await Promise.all([claimUntil({ ...half, tasks: [item] }), claimUntil({ ...half, tasks: others })])
  for (const { failures } of claimed) if (failures.length > 0) throw new Error(failures[0])
  return claimed.map(({ timesMs }) => timesMs.length / seconds) as [number, number]
}

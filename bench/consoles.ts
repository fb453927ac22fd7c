/**
 * Consoles with many players for the benches. Filling one takes longer than most benches measure, so `npm run bench` fills each once and
 * gives every bench a copy of its data directory. BENCH_CONSOLES names the folder of the filled consoles; without it, a bench fills its own.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { seed } from '../server/src/import/seed.ts'
import { type BenchServer, startBenchServer, temporaryDirectory } from './measuring.ts'
import { addPlayers } from './players.ts'

/** What a console contains. The name of its folder tells it apart from others. */
export interface Filling {
  name: string
  /** What it contains before `fill` adds to it. */
  after?: Filling
  fill: (server: BenchServer) => Promise<void>
}

/** The rows of `npm run seed`: players, and as many participations as players. */
export function seeded(players: number): Filling {
  const log = (line: string): void => console.log(line)
  return {
    name: `seeded-${players}`,
    fill: async ({ database }) => void (await seed({ database, telegramUsers: players, participations: players, log })),
  }
}

/** Players like those of the sample, without participations. */
export function generated(players: number): Filling {
  return { name: `generated-${players}`, fill: (server) => addPlayers(server, 0, players) }
}

/** Starts a console that contains this, with an admin who is signed in. */
export async function startFilledServer(filling: Filling, env: Record<string, string> = {}): Promise<BenchServer> {
  const folder = process.env['BENCH_CONSOLES']
  if (folder === undefined) {
    const server = await startBenchServer(env)
    await fillAll(server, filling)
    return server
  }
  const filled = await fillOnce(folder, filling)
  const temporary = await temporaryDirectory()
  const dataDir = join(temporary.path, 'data')
  copy(filled, dataDir)
  const server = await startBenchServer({ ...env, DATA_DIR: dataDir })
  const stop = async (): Promise<void> => {
    await server.stop()
    await temporary.remove()
  }
  return { ...server, stop }
}

async function fillAll(server: BenchServer, { after, fill }: Filling): Promise<void> {
  if (after) await fillAll(server, after)
  await fill(server)
}

/** Fills a console unless the folder has it, and returns its data directory. It gets its name when it is complete, so that nothing else looks like it. */
export async function fillOnce(folder: string, { name, after, fill }: Filling): Promise<string> {
  const filled = join(folder, name)
  if (existsSync(filled)) return filled
  const unfinished = `${filled}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  if (after) copy(await fillOnce(folder, after), unfinished)
  else await mkdir(unfinished, { recursive: true })
  const server = await startBenchServer({ DATA_DIR: unfinished })
  await fill(server)
  await server.stop()
  await rename(unfinished, filled)
  return filled
}

function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', '--reflink=auto', from, to])
}

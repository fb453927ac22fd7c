/**
 * `npm run test:soak [-- path…]` runs the tests that use server/test/size.ts in their large size, which takes hours instead of minutes.
 * `TEST_SEED=N` repeats the random choices of a run. `npm run test:soak -- planted [NAME…]` checks instead that the tests find faults: see
 * planted-faults.ts.
 */
import { randomInt } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root, run } from './children.ts'
import { provePlantedFaults } from './planted-faults.ts'
import { buildWeb } from './web-build.ts'

/** The seed of `npm test`. */
const SMALL_SEED = '1'
const seed = process.env.TEST_SEED ?? String(randomInt(2 ** 31))
const paths = process.argv.slice(2)
await buildWeb() // some tests start the whole server
if (paths[0] === 'planted') await provePlantedFaults(paths.slice(1), process.env.TEST_SEED ?? SMALL_SEED)
else await runLarge()

async function runLarge(): Promise<void> {
  const files = paths.length > 0 ? paths : await sizedTests()
  console.log(`Seed ${seed}: TEST_SEED=${seed} npm run test:soak repeats this run`)
  const { code } = await run('vitest', ['run', '--project', 'server', '--project', 'faults', ...files], {
    env: { TEST_SIZE: 'soak', TEST_SEED: seed },
  })
  process.exitCode = code
}

async function sizedTests(): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob('server/{src,test}/**/*.test.ts', { cwd: root }))
    if ((await readFile(join(root, file), 'utf8')).includes('test/size.ts')) found.push(file)
  return found
}

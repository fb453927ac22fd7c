import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProblems } from './dependencies.ts'

const zod = { version: '4.6.7', integrity: 'sha512-x' }

/** Returns the violations of a repository that follows the rules, except for the changes. */
async function problemsWith(changes: {
  web?: Record<string, string>
  server?: Record<string, string>
  lockedWeb?: Record<string, string>
  locked?: object
  docs?: string
}): Promise<string[]> {
  const base = await mkdtemp(join(tmpdir(), 'dependencies-'))
  onTestFinished(() => rm(base, { recursive: true }))
  const { web = { zod: '4.6.7' }, server = { zod: '4.6.7' }, locked = zod, docs = '| `zod` | 4.6.7 | Schemas |' } = changes
  const packages = {
    '': {},
    web: { dependencies: changes.lockedWeb ?? web },
    server: { dependencies: server },
    'node_modules/zod': locked,
  }
  const files: [string, unknown][] = [
    ['package.json', { workspaces: ['web', 'server'] }],
    ['web/package.json', { dependencies: web }],
    ['server/package.json', { dependencies: server }],
    ['package-lock.json', { packages }],
  ]
  for (const folder of ['web', 'server', 'docs']) await mkdir(join(base, folder))
  for (const [file, content] of files) await writeFile(join(base, file), JSON.stringify(content))
  await writeFile(join(base, 'docs/dependencies.md'), docs)
  return findProblems(base)
}

test('a repository that follows the rules passes', async () => {
  expect(await problemsWith({})).toEqual([])
})

test.each([
  ['a range', { web: { zod: '^4.6.7' }, server: {} }, 'web/package.json: zod must be an exact version, not ^4.6.7.'],
  ['two versions', { web: { zod: '4.6.6' } }, 'server/package.json: zod is 4.6.7 here and 4.6.6 elsewhere.'],
  ['an old lockfile', { lockedWeb: {} }, 'package-lock.json: zod of web/package.json is not up to date. Run npm install.'],
  [
    "a registry's address",
    { locked: { ...zod, resolved: 'https://registry.example.org/zod.tgz' } },
    "package-lock.json: node_modules/zod has a registry's address. npm config set omit-lockfile-registry-resolved=true",
  ],
  [
    'a package without integrity hash',
    { locked: { version: '4.6.7' } },
    'package-lock.json: node_modules/zod 4.6.7 has no integrity.',
  ],
  ['a dependency without a reason', { docs: '' }, 'docs/dependencies.md: zod 4.6.7 is missing. Say there what it is for.'],
  ['the reason for another version', { docs: '| `zod` | 4.0.0 | Schemas |' }, 'docs/dependencies.md: zod is 4.6.7, not 4.0.0.'],
  [
    'the reason for a package that is no longer a dependency',
    { docs: '| `zod` | 4.6.7 | Schemas |\n| `yup` | 1.0.0 | Schemas |' },
    'docs/dependencies.md: yup is no longer a dependency.',
  ],
])('%s: refused', async (_, changes, message) => {
  expect(await problemsWith(changes)).toContain(message)
})

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { findProblems } from './boundaries.ts'

const trees: string[] = []
afterEach(() => Promise.all(trees.splice(0).map((tree) => rm(tree, { recursive: true }))))

/** Returns `file:line` of every violation in a tree of these files. */
async function violations(files: Record<string, string>): Promise<string[]> {
  const { problems } = await findProblems(await plant(files))
  return problems.map(({ file, line }) => `${file}:${line}`)
}

async function plant(files: Record<string, string>): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'boundaries-'))
  trees.push(base)
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, file)), { recursive: true })
    await writeFile(join(base, file), text)
  }
  return base
}

/** Files that the tests import. They violate no rule. */
const targets = {
  'contract/src/field-schemas.ts': 'export const a = 1',
  'contract/src/tasks/fields.ts': 'export const a = 1',
  'web/src/ui/button.tsx': 'export const a = 1',
  'web/src/client/client.ts': 'export const a = () => fetch("/api")',
  'web/src/session.tsx': 'export const a = 1',
  'web/src/shell/shell.tsx': 'export const a = 1',
  'web/src/routes.tsx': 'export const a = 1',
  'web/src/app.tsx': 'export const a = 1',
  'web/src/theme.ts': 'export const a = 1',
  'web/src/testing/render.tsx': 'export const a = 1',
  'web/src/features/tasks/tasks-page.tsx': 'export const a = 1',
  'web/src/features/users/users-page.tsx': 'export const a = 1',
  'server/src/config.ts': 'export const a = process.env.PORT',
  'server/src/app.ts': 'export const a = 1',
  'server/src/main.ts': 'export const a = 1',
  'server/src/files/files.ts': 'export const a = 1',
  'server/src/db/database.ts': 'export const a = 1',
  'server/src/http/limits.ts': 'export const a = 1',
  'server/src/cli/arcade.ts': 'export const a = 1',
  'server/test/fixtures.ts': 'export const a = 1',
  'server/src/features/tasks.ts': 'export const a = 1',
  'server/src/features/users/users.ts': 'export const a = 1',
}

test('a cycle of imports is refused, even through other files and by dynamic or type-only imports', async () => {
  const cycle = {
    'server/src/db/a.ts': "import type { B } from './b.ts'\nexport type A = B",
    'server/src/db/b.ts': "export const b = () => import('./c.ts')",
    'server/src/db/c.ts': "export { a } from './a.ts'\nexport const c = 1",
  }
  const { problems } = await findProblems(await plant({ ...targets, ...cycle }))
  expect(problems.map(({ message }) => message)).toEqual([
    'A cycle of imports with server/src/db/b.ts, server/src/db/c.ts: move what both need to a file below them.',
  ])
})

test('a file that belongs to no zone is refused', async () => {
  expect(await violations({ ...targets, 'server/src/odd.ts': 'export const b = 1' })).toEqual(['server/src/odd.ts:1'])
})

test('a tree that follows the rules passes', async () => {
  const allowed = {
    'contract/src/tasks/calls.ts':
      "import { z } from 'zod'\nimport { a } from '#src/field-schemas.ts'\nimport { a as c } from './fields.ts'\nexport const b = z.literal([a, c])",
    'web/src/features/tasks/task-form.tsx':
      "import { a } from '#src/ui/button.tsx'\nimport { a as b } from './tasks-page.tsx'\nimport type { a as c } from '@arcade/contract/tasks/fields'\nexport const d: typeof c = a + b",
    'web/src/app-routes.tsx': "import { a } from '#src/routes.tsx'\nexport const b = a",
    'server/src/features/tasks.test.ts':
      "import { a } from '#test/fixtures.ts'\nimport { a as b } from './tasks.ts'\nexport const c = [a, b, process.env.HOME]",
    'server/src/features/users/users-list.ts':
      "import { a } from './users.ts'\nimport { a as b } from '#src/files/files.ts'\nexport const c = a + b",
    'e2e/tasks.spec.ts': "import { a } from '../server/test/fixtures.ts'\nexport const b = a",
    'bench/src/players.ts': "import { a } from '../../server/test/fixtures.ts'\nexport const b = a",
    'bench/page.bench.ts': "import { a } from '../server/src/app.ts'\nimport pg from 'pg'\nexport const b = [a, pg]",
  }
  expect(
    await violations({
      ...targets,
      ...allowed,
      'web/src/routes.tsx': "export const a = () => import('#src/features/tasks/tasks-page.tsx')",
    }),
  ).toEqual([])
})

test.each([
  ['the contract imports a module of Node', 'contract/src/x.ts', "import { readFile } from 'node:fs'"],
  ['fields.ts imports a package', 'contract/src/x/fields.ts', "import { z } from 'zod'"],
  ['fields.ts imports a schema', 'contract/src/x/fields.ts', "import { a } from '#src/field-schemas.ts'"],
  ['the contract imports React', 'contract/src/x.ts', "import 'react'"],
  ['ui imports a feature', 'web/src/ui/x.tsx', "import { a } from '#src/features/tasks/tasks-page.tsx'"],
  ['ui imports the client', 'web/src/ui/x.tsx', "import { a } from '#src/client/client.ts'"],
  ['a page imports another feature', 'web/src/features/tasks/x.tsx', "import { a } from '#src/features/users/users-page.tsx'"],
  [
    'a page imports a type of another feature',
    'web/src/features/tasks/x.tsx',
    "import type { a } from '#src/features/users/users-page.tsx'",
  ],
  [
    'a page loads another feature lazily',
    'web/src/features/tasks/x.tsx',
    "export const b = () => import('#src/features/users/users-page.tsx')",
  ],
  [
    'a page names a type of another feature inline',
    'web/src/features/tasks/x.tsx',
    "export type B = import('#src/features/users/users-page.tsx').B",
  ],
  [
    'a page re-exports a value of another feature',
    'web/src/features/tasks/x.tsx',
    "export { a } from '#src/features/users/users-page.tsx'; export const b = 1",
  ],
  ['a page imports the shell', 'web/src/features/tasks/x.tsx', "import { a } from '#src/shell/shell.tsx'"],
  ['a page imports the routes', 'web/src/features/tasks/x.tsx', "import { a } from '#src/routes.tsx'"],
  ['a page imports a module beside the routes', 'web/src/features/tasks/x.tsx', "import { a } from '#src/theme.ts'"],
  ['a page imports test fixtures', 'web/src/features/tasks/x.tsx', "import { a } from '#src/testing/render.tsx'"],
  ['the client imports the session', 'web/src/client/client.ts', "import { a } from '#src/session.tsx'"],
  ['the routes load a page at once', 'web/src/routes.tsx', "import { a } from '#src/features/tasks/tasks-page.tsx'"],
  ['the app loads a page at once', 'web/src/app.tsx', "import { a } from '#src/features/tasks/tasks-page.tsx'"],
  ['the shell imports a feature', 'web/src/shell/x.tsx', "import { a } from '#src/features/tasks/tasks-page.tsx'"],
  ['a feature imports another', 'server/src/features/tasks.ts', "import { a } from '#src/features/users/users.ts'"],
  ['a feature imports HTTP', 'server/src/features/tasks.ts', "import { a } from '#src/http/limits.ts'"],
  ['a feature imports the configuration', 'server/src/features/tasks.ts', "import { a } from '#src/config.ts'"],
  ['a feature imports the app', 'server/src/features/tasks.ts', "import { a } from '#src/app.ts'"],
  ['a feature imports test fixtures', 'server/src/features/tasks.ts', "import { a } from '#test/fixtures.ts'"],
  [
    'a test of a feature imports another feature',
    'server/src/features/tasks.test.ts',
    "import { a } from '#src/features/users/users.ts'",
  ],
  ['the database imports a feature', 'server/src/db/x.ts', "import { a } from '#src/features/tasks.ts'"],
  ['the database imports HTTP', 'server/src/db/x.ts', "import { a } from '#src/http/limits.ts'"],
  ['files import a feature', 'server/src/files/disk.ts', "import { a } from '#src/features/tasks.ts'"],
  ['files import HTTP', 'server/src/files/disk.ts', "import { a } from '#src/http/limits.ts'"],
  ['a room imports one above it', 'server/src/db/x.ts', "import { a } from '#src/files/files.ts'"],
  ['HTTP imports the app', 'server/src/http/x.ts', "import { a } from '#src/app.ts'"],
  ['e2e imports a feature of the server', 'e2e/x.spec.ts', "import { a } from '../server/src/features/tasks.ts'"],
  ['e2e imports the web app', 'e2e/x.spec.ts', "import { a } from '../web/src/client/client.ts'"],
  ['e2e imports the database', 'e2e/x.spec.ts', "import { a } from '../server/src/db/database.ts'"],
  ['e2e reaches the server from a folder further down', 'e2e/src/x.ts', "import { a } from '../../server/src/files/files.ts'"],
  ['e2e imports its own file by ../', 'e2e/src/x.ts', "import { a } from '../tasks.spec.ts'"],
  ['the path contains ../..', 'server/src/features/users/x.ts', "import { a } from '../../files/files.ts'"],
  ['the path contains ../', 'server/src/db/x.ts', "import { a } from '../config.ts'"],
  ['the path contains ./../', 'server/src/db/x.ts', "import { a } from './../config.ts'"],
  ['a file further down is imported by ./', 'server/src/main.ts', "import { a } from './files/files.ts'"],
  ['the extension is missing', 'server/src/db/x.ts', "import { a } from './database'"],
  ['the extension is that of a build', 'server/src/db/x.ts', "import { a } from './database.js'"],
  ['another workspace is imported by name', 'web/src/x.ts', "import { a } from '@arcade/server'"],
  ['the environment is read', 'server/src/db/x.ts', 'export const b = process.env.PORT'],
  [
    'the environment is read by another name',
    'server/src/db/x.ts',
    "import { env } from 'node:process'; export const b = env.PORT",
  ],
  ['the environment is destructured', 'server/src/db/x.ts', 'export const { env } = process'],
  ['a page fetches', 'web/src/features/tasks/x.tsx', "export const b = () => fetch('/api')"],
  ['a page opens a stream', 'web/src/features/tasks/x.tsx', "export const b = () => new EventSource('/api/events')"],
  ['a page fetches through window', 'web/src/features/tasks/x.tsx', "export const b = () => window.fetch('/api')"],
  ['a page uses XMLHttpRequest', 'web/src/features/tasks/x.tsx', 'export const b = () => new XMLHttpRequest()'],
  ['a barrel', 'web/src/ui/buttons.ts', "export * from './button.tsx'"],
  ['a barrel in two steps', 'web/src/ui/buttons.ts', "import { a } from './button.tsx'; export { a }"],
  ['an index file', 'web/src/ui/index.ts', 'export const b = 1'],
  ['a drawer of utils', 'server/src/db/utils/x.ts', 'export const b = 1'],
  ['a drawer of hooks', 'web/src/features/tasks/hooks/x.ts', 'export const b = 1'],
  ["a counter's name in a literal", 'server/src/features/tasks.ts', "export const b = 'users:admin'"],
  ["a counter's name in a template", 'server/src/cli/x.ts', 'export const b = (kind) => `participants:${kind}:1`'],
  ["a counter's name in SQL", 'e2e/x.spec.ts', `export const b = "select 'participants:' || kind"`],
  ["a bucket's name in a test", 'server/src/db/x.test.ts', "export const b = 'activity@h:'"],
  ['counters are changed by hand', 'server/src/cli/x.test.ts', 'export const b = sql`insert into counter_deltas values (0)`'],
  ["a title that begins with '§design'", 'server/src/db/x.test.ts', "test('§design 7 x', () => {})"],
  ["a title that begins with '§security'", 'e2e/x.spec.ts', 'test(`§security x`, () => {})'],
  ['a title without § before the number', 'server/src/db/x.test.ts', "test('design 7 x', () => {})"],
  ['a title with a colon behind the number', 'server/src/db/x.test.ts', "test('design §7: x', () => {})"],
  ['a line of the log in lower case', 'server/src/db/x.ts', "export const b = (o) => o.log.warn({}, 'no disk')"],
  ['a line of a private log in lower case', 'server/src/db/x.ts', "class B { #log; b() { this.#log.info('ready') } }"],
  ['a file that cannot be parsed', 'server/src/db/x.ts', 'export const = 1'],
])('%s: refused', async (_, file, text) => {
  expect(await violations({ ...targets, [file]: text })).toEqual([`${file}:1`])
})

test('a file of 400 lines passes, a file of 401 lines is refused', async () => {
  expect(await violations({ ...targets, 'server/src/db/x.ts': '\n'.repeat(399) + 'export {}\n' })).toEqual([])
  expect(await violations({ ...targets, 'server/src/db/x.ts': '\n'.repeat(400) + 'export {}\n' })).toEqual([
    'server/src/db/x.ts:402',
  ])
})

test('a violation has the line of the import and says what to do instead', async () => {
  const base = await plant({ ...targets, 'server/src/db/x.ts': "// one\n\nimport { a } from '#src/features/tasks.ts'" })
  expect((await findProblems(base)).problems).toEqual([
    {
      file: 'server/src/db/x.ts',
      line: 3,
      message:
        'server/db may not import server/src/features/tasks.ts. db/ has the connection pools, the schema and its migrations; it knows no rule of the game. Make the other room import this one, or move the code.',
    },
  ])
})

test('a zone whose folder has no TypeScript file is refused', async () => {
  expect(await violations({ ...targets, 'web/src/shell/shell.tsx': 'export {}', 'bench/package.json': '{}' })).toEqual([
    'bench/:0',
  ])
})

test('an empty tree is refused', async () => {
  expect(await violations({})).toEqual(['.:0'])
})

/**
 * The architecture, checked (design §3): who may import whom, how imports are written, where the environment and the network are
 * touched, how large a file gets. Every import counts: static, dynamic, re-exported, type-only.
 */
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { parseSync, type Statement, Visitor } from 'oxc-parser'
import { root } from './children.ts'
import { findCircles } from './circles.ts'

const LINES_A_FILE_MAX = 400 // a module can be deep and yet be read in one sitting
const drawers = ['utils', 'lib', 'helpers', 'hooks', 'types']

interface Zone {
  name: string
  /** What belongs to it: a folder `x/`, or a module `x` (x.ts, x.tsx, x.test.ts). The first zone that fits a file has it. */
  at: string
  /** The zones that its files may import besides their own; `*` stands for all. */
  imports: readonly string[]
  /** The zone's folders, or files that lie in none, may not import each other. */
  isSplit?: true
  /** The only npm packages that its files may import; without this they may import any. */
  packages?: readonly string[]
  /** Tells a developer what to do instead of an import that is not allowed. */
  instead: string
}

/** The server's rooms from the bottom up: each may import those before it. */
const rooms = [
  ['server/calls', 'server/src/calls', 'calls.ts knows the contract only.'],
  ['server/postgres', 'server/src/postgres/', 'postgres/ reaches a PostgreSQL and knows no table. Turn the arrow round.'],
  ['server/db', 'server/src/db/', 'The database knows no feature and no HTTP. Turn the arrow round.'],
  ['server/audit', 'server/src/audit/', 'audit/ knows the database below it, no feature and no HTTP. Turn the arrow round.'],
  [
    'server/webhooks',
    'server/src/webhooks/',
    'webhooks/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.',
  ],
  ['server/files', 'server/src/files/', 'files/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.'],
  ['server/trash', 'server/src/trash/', 'trash/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.'],
  [
    'server/identity',
    'server/src/identity/',
    'identity/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.',
  ],
  ['server/sheets', 'server/src/sheets/', 'sheets/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.'],
  ['server/lists', 'server/src/lists/', 'lists/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.'],
  ['server/backup', 'server/src/backup/', 'backup/ knows the rooms below it, no feature and no HTTP. Turn the arrow round.'],
] as const
const roomNames = rooms.map(([name]) => name)
const contract = ['contract', 'contract/entities']
const belowPages = [...contract, 'web/ui', 'web/client', 'web/session']
const belowFeatures = [...belowPages, 'web/lists', 'web/versions']

export const zones: readonly Zone[] = [
  {
    name: 'contract/entities',
    at: 'contract/src/entities/',
    imports: [],
    packages: [],
    instead:
      'entities/ is plain data, which the first page of the web app loads; a schema of it would bring zod along. Put schemas into the files above.',
  },
  {
    name: 'contract',
    at: 'contract/src/',
    imports: ['contract/entities'],
    packages: ['zod', '@orpc/contract'],
    instead:
      'The contract knows neither DOM nor Node, only zod and @orpc/contract. Move what needs more to the side that needs it.',
  },

  { name: 'web/testing', at: 'web/src/testing/', imports: ['*'], instead: '' },
  {
    name: 'web/ui',
    at: 'web/src/ui/',
    imports: contract,
    instead: 'ui/ knows the contract and other ui only. Take what you need as a prop.',
  },
  {
    name: 'web/lists',
    at: 'web/src/lists/',
    imports: belowPages,
    instead: 'lists/ sees the contract, ui, client.ts and session.tsx only. Take what one list alone needs as an argument.',
  },
  {
    name: 'web/versions',
    at: 'web/src/versions/',
    imports: [...belowPages, 'web/lists'],
    instead: 'versions/ sees the contract, ui, lists, client.ts and session.tsx only. Take what one form alone needs as a prop.',
  },
  {
    name: 'web/features',
    at: 'web/src/features/',
    imports: belowFeatures,
    isSplit: true,
    instead:
      'A feature sees the contract, ui, lists, versions, client.ts, session.tsx and itself. Move what two features need to ui/, or join them in routes.tsx.',
  },
  { name: 'web/client', at: 'web/src/client', imports: contract, instead: 'client.ts knows the contract only.' },
  {
    name: 'web/session',
    at: 'web/src/session',
    imports: belowPages,
    instead: 'session.tsx sees the contract, ui and client.ts only.',
  },
  { name: 'web/shell', at: 'web/src/shell/', imports: belowPages, instead: 'The shell gets pages from routes.tsx, as children.' },
  { name: 'web/routes', at: 'web/src/routes', imports: ['*'], instead: '' },
  { name: 'web/app', at: 'web/src/app', imports: ['*'], instead: '' },
  {
    name: 'web modules',
    at: 'web/src/',
    imports: [...belowFeatures, 'web/shell', 'web/routes', 'web/app'],
    instead: 'Only routes.tsx and app.tsx know the features, and pages import nothing from above them.',
  },

  { name: 'server/testing', at: 'server/src/testing/', imports: ['*'], instead: '' },
  { name: 'server/harness', at: 'server/src/harness/', imports: ['*'], instead: '' },
  { name: 'server/main', at: 'server/src/main', imports: ['*'], instead: '' },
  { name: 'server/app', at: 'server/src/app', imports: ['*'], instead: '' },
  { name: 'server/cli', at: 'server/src/cli/', imports: ['*'], instead: '' },
  {
    name: 'server/http',
    at: 'server/src/http/',
    imports: [...contract, 'server/config', ...roomNames, 'server/features'],
    instead: 'app.ts hands the HTTP layer what it needs.',
  },
  {
    name: 'server/features',
    at: 'server/src/features/',
    imports: [...contract, ...roomNames],
    isSplit: true,
    instead:
      'A feature sees the contract, calls.ts, the rooms below it (lists/, sheets/, identity/, files/, db/, postgres/) and itself; app.ts hands it the rest. ' +
      'What two features need belongs into a room, or is a table both query.',
  },
  ...rooms.map(([name, at, instead], index) => ({
    name,
    at,
    imports: [...contract, 'server/config', ...roomNames.slice(0, index)],
    instead,
  })),
  {
    name: 'server/config',
    at: 'server/src/config',
    imports: contract,
    instead: 'config.ts reads the environment and knows nothing else.',
  },

  {
    name: 'e2e',
    at: 'e2e/',
    imports: [...contract, 'server/app', 'server/testing'],
    instead: 'e2e uses the contract, server/src/app.ts and server/src/testing/ only.',
  },
  // A benchmark may measure any module by itself, beside the product as a whole.
  { name: 'bench', at: 'bench/', imports: ['*'], instead: '' },
  { name: 'scripts', at: 'scripts/', imports: [], instead: 'Scripts start the workspaces; they import nothing of them.' },
]

const workspaces = ['contract', 'server', 'web', 'e2e', 'bench', 'scripts']

export interface Problem {
  file: string
  line: number
  message: string
}

/** All violations under `base`, and how many files were looked at. A zone that exists and holds no file is a violation too. */
export async function findProblems(base: string): Promise<{ problems: Problem[]; fileCount: number }> {
  const problems: Problem[] = []
  const seen = new Set<string>()
  const imports = new Map<string, string[]>()
  let fileCount = 0
  const pattern = `{${workspaces.join(',')}}/**/*.{ts,tsx}`
  for await (const path of glob(pattern, {
    cwd: base,
    exclude: (name) => ['node_modules', 'dist', 'results'].includes(basename(name)),
  })) {
    const file = path.replaceAll('\\', '/')
    fileCount++
    const zone = findZone(file)
    if (zone) seen.add(zone.name)
    const { problems: own, targets } = checkFile(base, file, await readFile(join(base, file), 'utf8'))
    problems.push(...own)
    imports.set(file, targets)
  }
  for (const [file = '', ...others] of findCircles(imports))
    problems.push({
      file,
      line: 0,
      message: `A circle of imports with ${others.join(', ')}: move what both need to a file below them.`,
    })
  for (const zone of zones) {
    const place = [zone.at, `${zone.at}.ts`, `${zone.at}.tsx`].find((candidate) => existsSync(join(base, candidate)))
    if (place && !seen.has(zone.name))
      problems.push({ file: place, line: 0, message: 'There is no TypeScript file here, so nothing was checked.' })
  }
  if (fileCount === 0) problems.push({ file: '.', line: 0, message: `No file was found in ${workspaces.join(', ')}.` })
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
  return { problems, fileCount }
}

function findZone(file: string): Zone | undefined {
  return zones.find(({ at }) => file.startsWith(at.endsWith('/') ? at : `${at}.`))
}

function checkFile(base: string, file: string, source: string): { problems: Problem[]; targets: string[] } {
  const problems: Problem[] = []
  const lineNumber = (offset: number): number => source.slice(0, offset).split('\n').length
  const report = (offset: number, message: string): void => void problems.push({ file, line: lineNumber(offset), message })

  const { module, program, errors } = parseSync(file, source)
  if (errors[0]) report(errors[0].labels[0]?.start ?? 0, `Cannot be parsed: ${errors[0].message}`)

  const imported: Import[] = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      start: moduleRequest.start,
      isLazy: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, start: moduleRequest.start, isLazy: isType }] : [],
      ),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const literal = /^(['"`])([^$]*)\1$/.exec(source.slice(start, end))
      return literal?.[2] ? [{ specifier: literal[2], start, isLazy: true }] : []
    }),
  ]
  new Visitor({
    TSImportType: ({ source: { value, start } }) => imported.push({ specifier: value, start, isLazy: true }),
    ...touches(file, report),
  }).visit(program)
  for (const one of imported) {
    const message = problemOfImport(base, file, one)
    if (message) report(one.start, message)
  }

  const folder = dirname(file)
    .split('/')
    .find((name) => drawers.includes(name))
  if (folder) report(0, `No ${folder}/ drawers: put the file beside what uses it, under a name that says what it does.`)
  if (isBarrel(program.body) || /^index\.tsx?$/.test(basename(file)))
    report(0, 'No barrels: import each thing from the file that defines it.')
  if (!findZone(file) && /^(contract|server|web)\/src\//.test(file))
    report(0, 'This file lies in no room: put it into one that zones names.')
  const lineCount = source.trimEnd().split('\n').length
  if (lineCount > LINES_A_FILE_MAX)
    report(
      source.length,
      `${lineCount} lines, at most ${LINES_A_FILE_MAX}: move what can be named by itself to a file of its own.`,
    )
  return { problems, targets: imported.flatMap(({ specifier }) => findTarget(file, specifier) ?? []) }
}

/** Whether a file only re-exports what other files define. */
function isBarrel(statements: readonly Statement[]): boolean {
  const exports = statements.filter(
    (one) =>
      one.type === 'ExportAllDeclaration' ||
      (one.type === 'ExportNamedDeclaration' && !one.declaration && one.specifiers.length > 0),
  )
  return exports.length > 0 && statements.every((one) => one.type === 'ImportDeclaration' || exports.includes(one))
}

interface Import {
  specifier: string
  start: number
  /** The import is dynamic or of types only, so it costs nothing at load time. */
  isLazy: boolean
}

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file) || /\/src\/(testing|harness)\//.test(file)

/** The path of our own file that an import names; `undefined` for a package. */
function findTarget(file: string, specifier: string): string | undefined {
  const path = specifier.replace(/\?.*$/, '')
  if (/^@arcade\/contract(\/|$)/.test(path)) return `contract/src${path.slice('@arcade/contract'.length)}.ts`
  if (path.startsWith('#src/')) return posix.join(file.split('/')[0] ?? '', path.slice(1))
  return path.startsWith('.') ? posix.join(dirname(file), path) : undefined
}

function problemOfImport(base: string, file: string, { specifier, isLazy }: Import): string | undefined {
  const zone = findZone(file)
  const workspace = file.split('/')[0] ?? ''
  const path = specifier.replace(/\?.*$/, '')

  const target = findTarget(file, specifier)
  if (target === undefined) {
    if (path.startsWith('@arcade/')) return `Nothing can be imported from ${path}: it has no exports.`
    const name = path
      .split('/')
      .slice(0, path.startsWith('@') ? 2 : 1)
      .join('/')
    return zone?.packages && !zone.packages.includes(name) && !isTest(file)
      ? `${zone.name} may not import ${name}. ${zone.instead}`
      : undefined
  }
  if (path.startsWith('.')) {
    const isBelow = path.startsWith('./') && target.startsWith(`${dirname(file)}/`)
    const isServers = target.startsWith('server/src/') && ['e2e', 'bench'].includes(workspace) // there is no other way to write it
    if (!isBelow && !isServers) return `${path}: never "../". Files of the same folder are './…', all others '#src/…'.`
  }

  if (!existsSync(join(base, target)))
    return `${specifier}: there is no ${target}. Write the whole file name, with its extension.`
  const targetZone = findZone(target)
  if (!zone || !targetZone) return undefined
  if (['web/routes', 'web/app'].includes(zone.name) && targetZone.name === 'web/features' && !isLazy)
    return `${specifier}: ${posix.basename(file)} loads pages lazily, by import('…'). addresses.ts reads what their addresses hold.`
  if (zone === targetZone && !(zone.isSplit && findPart(zone, file) !== findPart(zone, target))) return undefined
  if (isTest(file) && targetZone.name === `${workspace}/testing`) return undefined
  if (zone !== targetZone && (zone.imports.includes('*') || zone.imports.includes(targetZone.name))) return undefined
  return `${zone.name} may not import ${target}. ${zone.instead}`
}

/** The feature a file belongs to: the folder, or the file without its endings. */
function findPart(zone: Zone, file: string): string {
  return (
    file
      .slice(zone.at.length)
      .split('/')[0]
      ?.replace(/(\.test)?\.tsx?$/, '') ?? ''
  )
}

/**
 * Looks for the environment, which belongs to server/src/config.ts, for the network, which belongs to web/src/client.ts, and for names
 * of counters, which server/src/db/counter-keys.ts writes and takes apart. Released migrations stay as they are.
 */
function touches(file: string, report: (offset: number, message: string) => void): ConstructorParameters<typeof Visitor>[0] {
  const isProduct = /^(contract|server|web)\/src\//.test(file) && !isTest(file)
  const environment = (start: number): void => {
    if (isProduct && file !== 'server/src/config.ts')
      report(start, 'Only server/src/config.ts reads the environment: take the setting as an argument.')
  }
  const network = (start: number): void => {
    if (isProduct && file.startsWith('web/') && file !== 'web/src/client.ts')
      report(start, 'Only web/src/client.ts calls the server: use the typed client.')
  }
  const text = (value: unknown, start: number): void => {
    if (typeof value !== 'string' || /^(scripts|server\/src\/db\/(migrations|counter-keys))/.test(file)) return
    if (/(activity|taken)@|(^|['"])(users|participants):(?![\s;])/.test(value))
      report(start, 'Only server/src/db/counter-keys.ts knows names of counters: use a key.')
    if (value.includes('counter_deltas') && !file.startsWith('server/src/db/'))
      report(
        start,
        'Counters are changed by server/src/db/counters.ts alone; in tests by addCount of server/src/testing/activity.ts.',
      )
  }
  return {
    Literal: ({ value, start }) => text(value, start),
    TemplateElement: ({ value, start }) => text(value.cooked, start),
    MemberExpression({ object, property, start }) {
      const name = property.type === 'Identifier' ? property.name : property.type === 'Literal' ? property.value : undefined
      const owner =
        object.type === 'Identifier'
          ? object.name
          : object.type === 'MemberExpression' && object.property.type === 'Identifier'
            ? object.property.name
            : undefined
      if (owner === 'process' && name === 'env') environment(start)
      if (['window', 'globalThis', 'self'].includes(owner ?? '') && name === 'fetch') network(start)
      if (name === 'sendBeacon') network(start)
    },
    VariableDeclarator({ id, init, start }) {
      if (init?.type !== 'Identifier' || init.name !== 'process' || id.type !== 'ObjectPattern') return
      if (id.properties.some((one) => one.type === 'Property' && one.key.type === 'Identifier' && one.key.name === 'env'))
        environment(start)
    },
    ImportDeclaration({ source, specifiers, start }) {
      if (!/^(node:)?process$/.test(source.value)) return
      if (
        specifiers.some(
          (one) => one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' && one.imported.name === 'env',
        )
      )
        environment(start)
    },
    CallExpression({ callee, start }) {
      if (callee.type === 'Identifier' && callee.name === 'fetch') network(start)
    },
    NewExpression({ callee, start }) {
      if (callee.type === 'Identifier' && ['XMLHttpRequest', 'EventSource', 'WebSocket'].includes(callee.name)) network(start)
    },
  }
}

if (import.meta.main) {
  const { problems, fileCount } = await findProblems(root)
  for (const { file, line, message } of problems) console.log(`${file}:${line} ${message}`)
  console.log(`${fileCount} files, ${problems.length} violations`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

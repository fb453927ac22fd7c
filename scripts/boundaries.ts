/**
 * Checks the architecture (design §3): which files may import which, how imports are written, which files use the environment and the
 * network, and how long a file may be. It checks static, dynamic and type-only imports, and re-exports.
 */
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { type Expression, parseSync, type Statement, Visitor } from 'oxc-parser'
import { root } from './children.ts'
import { findCycles } from './cycles.ts'
import { findZone, type Zone, workspaceOf, workspaces, zones } from './zones.ts'

const MAX_LINES_A_FILE = 400 // few enough to read in one sitting
/** Generated files, which may be longer. */
const generatedFiles = ['server/src/db/tables.ts']
const vagueFolders = ['utils', 'lib', 'helpers', 'hooks', 'types']

export interface Problem {
  file: string
  line: number
  message: string
}

/** Returns all violations under `base`, and the number of files checked. A zone whose folder has no TypeScript file is a violation, too. */
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
  for (const [file = '', ...others] of findCycles(imports))
    problems.push({
      file,
      line: 0,
      message: `A cycle of imports with ${others.join(', ')}: move what both need to a file below them.`,
    })
  for (const zone of zones) {
    if (zone.at instanceof RegExp) continue
    const sourcePath = [zone.at, `${zone.at}.ts`, `${zone.at}.tsx`].find((candidate) => existsSync(join(base, candidate)))
    if (sourcePath && !seen.has(zone.name))
      problems.push({ file: sourcePath, line: 0, message: 'There is no TypeScript file here, so nothing was checked.' })
  }
  if (fileCount === 0) problems.push({ file: '.', line: 0, message: `No file was found in ${workspaces.join(', ')}.` })
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
  return { problems, fileCount }
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
    ...forbiddenUses(file, report),
  }).visit(program)
  for (const one of imported) {
    const message = problemOfImport(base, file, one)
    if (message) report(one.start, message)
  }

  const folder = dirname(file)
    .split('/')
    .find((name) => vagueFolders.includes(name))
  if (folder)
    report(0, `Folders named ${folder}/ are not allowed: put the file beside what uses it, under a name that says what it does.`)
  if (isBarrel(program.body) || /^index\.tsx?$/.test(basename(file)))
    report(0, 'No barrels: import each thing from the file that defines it.')
  if (!findZone(file) && /^((contract|server|web)\/src|server\/test)\//.test(file))
    report(0, 'This file belongs to no zone of scripts/zones.ts.')
  const lineCount = source.trimEnd().split('\n').length
  if (lineCount > MAX_LINES_A_FILE && !generatedFiles.includes(file))
    report(
      source.length,
      `${lineCount} lines, at most ${MAX_LINES_A_FILE}: move what can be named by itself to a file of its own.`,
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
  /** Whether the import is dynamic or of types only, so that it costs nothing at load time. */
  isLazy: boolean
}

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file) || /(\/src\/testing|^server\/test)\//.test(file)

/** Returns the path of the repository's file that an import names; `undefined` for a package. */
function findTarget(file: string, specifier: string): string | undefined {
  const path = specifier.replace(/\?.*$/, '')
  if (/^@arcade\/contract(\/|$)/.test(path)) return `contract/src${path.slice('@arcade/contract'.length)}.ts`
  if (/^#(src|test)\//.test(path)) return posix.join(workspaceOf(file), path.slice(1))
  return path.startsWith('.') ? posix.join(dirname(file), path) : undefined
}

function problemOfImport(base: string, file: string, { specifier, isLazy }: Import): string | undefined {
  const zone = findZone(file)
  const workspace = workspaceOf(file)
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
    const isBeside = path.startsWith('./') && posix.dirname(target) === dirname(file)
    // These workspaces have no `#` name for files of the server.
    const isServers = /^server\/(src|test)\//.test(target) && ['e2e', 'bench'].includes(workspace)
    if (!isBeside && !isServers) return `${path}: only files of the same folder are './…', all others '#src/…' or '#test/…'.`
  }

  if (!existsSync(join(base, target)))
    return `${specifier}: there is no ${target}. Write the whole file name, with its extension.`
  const targetZone = findZone(target)
  if (!zone || !targetZone) return undefined
  if (['web/routes', 'web/app'].includes(zone.name) && targetZone.name === 'web/features' && !isLazy)
    return `${specifier}: ${posix.basename(file)} loads pages lazily, by import('…'). addresses.ts reads what their addresses hold.`
  if (zone === targetZone && !(zone.isSplit && findPart(zone, file) !== findPart(zone, target))) return undefined
  if (isTest(file) && [`${workspace}/testing`, `${workspace}/test`].includes(targetZone.name)) return undefined
  if (zone !== targetZone && (zone.imports.includes('*') || zone.imports.includes(targetZone.name))) return undefined
  return `${zone.name} may not import ${target}. ${zone.instead}`
}

/** Returns the feature that a file belongs to: the name of its folder, or of the file without its endings. */
function findPart(zone: Zone, file: string): string {
  return (
    file
      .slice(zone.at.toString().length)
      .split('/')[0]
      ?.replace(/(\.test)?\.tsx?$/, '') ?? ''
  )
}

/**
 * Reports uses of the environment outside server/src/config.ts, of the network outside web/src/client/, of counters' names outside
 * server/src/counters/counter-keys.ts, and titles of tests and lines of the log in another form. Released migrations are exempt, because
 * they must not change.
 */
function forbiddenUses(file: string, report: Report): ConstructorParameters<typeof Visitor>[0] {
  const isProduct = isProductFile(file)
  const { environment, network, text } = createUses(file, report)
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
    CallExpression({ callee, arguments: given, start }) {
      if (callee.type === 'Identifier' && callee.name === 'fetch') network(start)
      const line = given.at(-1)
      if (isProduct && line?.type === 'Literal' && /^\p{Ll}/u.test(String(line.value)) && isLogCall(callee))
        report(line.start, 'A line of the log begins with a capital.')
    },
    NewExpression({ callee, start }) {
      if (callee.type === 'Identifier' && ['XMLHttpRequest', 'EventSource', 'WebSocket'].includes(callee.name)) network(start)
    },
  }
}

type Report = (offset: number, message: string) => void

function isProductFile(file: string): boolean {
  return /^(contract|server|web)\/src\//.test(file) && !isTest(file)
}

/** Makes the functions that report a use of the environment, of the network, or of a text, if this file may not have it. */
function createUses(file: string, report: Report) {
  const isProduct = isProductFile(file)
  const environment = (start: number): void => {
    if (isProduct && file !== 'server/src/config.ts')
      report(start, 'Only server/src/config.ts reads the environment: take the setting as an argument.')
  }
  const network = (start: number): void => {
    if (isProduct && file.startsWith('web/') && !file.startsWith('web/src/client/'))
      report(start, 'Only web/src/client/ calls the server: use the typed client.')
  }
  const text = (value: unknown, start: number): void => {
    if (
      typeof value === 'string' &&
      /\.(test|spec)\.tsx?$/.test(file) &&
      /^(§[a-z]|design (?!§\d+ )|design:|security )/.test(value)
    )
      report(start, 'The title of a test names its section in one form: §7 …, design §7 …, or security: ….')
    if (typeof value !== 'string' || /^(scripts|server\/src\/(db\/migrations|counters\/counter-keys))/.test(file)) return
    if (/(activity|taken)@|(^|['"])(users|participants):(?![\s;])/.test(value))
      report(start, 'Only server/src/counters/counter-keys.ts knows names of counters: use a key.')
    if (value.includes('counter_deltas') && !/^server\/src\/(counters\/|db\/migrations\/|postgres\/citus\.)/.test(file))
      report(
        start,
        'Counters are changed by server/src/counters/counters.ts alone; in tests by addCount of server/test/activity.ts.',
      )
  }
  return { environment, network, text }
}

/** Whether a function is one of a logger, such as `this.#log.warn`. */
function isLogCall(callee: Expression): boolean {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false
  if (!['debug', 'info', 'warn', 'error', 'fatal'].includes(callee.property.name)) return false
  const owner = callee.object.type === 'MemberExpression' ? callee.object.property : callee.object
  return 'name' in owner && owner.name === 'log'
}

if (import.meta.main) {
  const { problems, fileCount } = await findProblems(root)
  for (const { file, line, message } of problems) console.log(`${file}:${line} ${message}`)
  console.log(`${fileCount} files, ${problems.length} violations`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

/** Checks what the documents refer to: links, files, commands, and the tests that conformance.md, security.md and asvs.md name. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './children.ts'
import { testFolders } from './test-folders.ts'

const LINE_CHARACTERS = 140
const IGNORED = ['node_modules', 'dist', '.git']

interface Document {
  path: string
  text: string
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const documents = globSync(['*.md', 'docs/**/*.md', 'examples/game/*.md'], { cwd: root }).map((path) => ({
  path,
  text: read(path),
}))
const textOf = (path: string): string => documents.find((document) => document.path === path)?.text ?? ''
/** All files and folders of the repository, by their paths from the root; a folder also with a slash at its end. */
const paths = globSync('**/*', { cwd: root, withFileTypes: true, exclude: ({ name }) => IGNORED.includes(name) })
  .map((entry) => ({ path: relative(root, join(entry.parentPath, entry.name)), isFolder: entry.isDirectory() }))
  .flatMap(({ path, isFolder }) => (isFolder ? [path, `${path}/`] : [path]))
  .join('\n')

/** The commands that the usage of `arcade` lists, such as `resume` and `token list`. */
const { stdout: usage } = spawnSync(process.execPath, [join(root, 'server/src/cli/arcade.ts'), '--help'], { encoding: 'utf8' })
const arcadeCommands: ReadonlySet<string> = new Set(
  Array.from(usage.matchAll(/^ {2}npm run (?:arcade -- )?([a-z-]+(?: [a-z]+)?)\b/gm), ([, command = '']) => command),
)

/** Whether a path exists. `*` stands for a part of a name, `**` + `/` for any folders, `{a,b}` for one of these. */
function exists(pattern: string): boolean {
  const wildcards: Record<string, string> = { '**/': '(?:.*/)?', '*': '[^/\n]*', '{': '(?:', '}': ')', ',': '|' }
  const source = pattern.replaceAll(/\*\*\/|[*{},]|[.+?^$()|[\]\\]/g, (token) => wildcards[token] ?? `\\${token}`)
  return new RegExp(`^${source}$`, 'm').test(paths)
}

test('every link of a document to a file leads to one, within the repository', () => {
  const links = documents.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\]\((?!https?:)([^)#\s]+)/g), ([, target = '']) => ({ path, target })),
  )
  const broken = links.filter(({ path, target }) => {
    const file = join(root, dirname(path), target)
    return relative(root, file).startsWith('..') || !existsSync(file)
  })
  expect(links.length).toBeGreaterThan(20)
  expect(broken).toEqual([])
})

test('every link to a heading leads to one', () => {
  const anchorsOf = ({ text }: Document): string[] =>
    Array.from(text.matchAll(/^#+ (.*)$/gm), ([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    )
  const broken = documents.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g), ([link, target = '', anchor = '']) => {
      const other = target === '' ? path : join(dirname(path), target)
      const document = documents.find((candidate) => candidate.path === other)
      return document && anchorsOf(document).includes(anchor) ? [] : [`${path}: ${link}`]
    }).flat(),
  )
  expect(broken).toEqual([])
})

test('no line of a document is longer than 140 characters, unless it is a row of a table or one URL', () => {
  expect(documents.filter(({ path }) => path !== 'docs/specification.md').flatMap(longLines)).toEqual([])
})

test('no document, comment or text has words that make a sentence a riddle', () => {
  const riddles = /\b(whoever|whosoever|so many|(?<!so )that many|thereof|whence)\b/i
  const files = globSync(['*.md', '{docs,contract,server,web,e2e,bench,scripts,examples}/**/*.{md,ts,tsx,css,sql,html}'], {
    cwd: root,
    exclude: (name) => IGNORED.includes(name),
  }).filter((path) => !['docs/specification.md', 'scripts/documents.test.ts'].includes(path))
  const found = files.flatMap((path) => {
    const lines = read(path).split('\n')
    return lines.flatMap((line, index) => (riddles.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []))
  })
  expect(files.length).toBeGreaterThan(500)
  expect(found).toEqual([])
})

test('every file, command and option that a document names exists', () => {
  expect(documents.flatMap(unknownFiles)).toEqual([])
  expect(documents.flatMap(unknownCommands)).toEqual([])
})

test('a document with a wrong file, command or line is found', () => {
  const wrong = [
    'Run `npm run strat`, `npm test -- sever`, `npm test -- server src/sessions` and `npm run bench -- exprot`.',
    'Or `sh scripts/run boundries`, `npm run arcade -- tokens list`, `arcade token revoek NAME`, `npm run test:soak -- src/nowhere`.',
    'It is in `contract/src/entities/player.ts`, `identity/session.ts` and `server/src/tools/`.',
    'word '.repeat(30),
    `https://example.org/${'path/'.repeat(30)}`,
  ].join('\n')
  const document = { path: 'wrong.md', text: wrong }
  expect(longLines(document)).toEqual(['wrong.md:4 has 150 characters'])
  expect(unknownFiles(document).map((problem) => problem.replace('wrong.md: ', ''))).toEqual([
    'contract/src/entities/player.ts',
    'identity/session.ts',
    'server/src/tools/',
  ])
  expect(unknownCommands(document).map((problem) => problem.replace('wrong.md: ', ''))).toEqual([
    'npm run strat',
    'npm test -- sever',
    'npm test -- server src/sessions',
    'npm run test:soak -- src/nowhere',
    'npm run bench -- exprot',
    'sh scripts/run boundries',
    'arcade tokens list',
    'arcade token revoek',
  ])
})

function longLines({ path, text }: Document): string[] {
  return text.split('\n').flatMap((line, index) => {
    const isLong = line.length > LINE_CHARACTERS && !line.startsWith('|') && !/^[-*\s]*(?:\[[\d\w]+\]: )?<?https?:\S+$/.test(line)
    return isLong ? [`${path}:${index + 1} has ${line.length} characters`] : []
  })
}

/**
 * Lists the paths in backticks that do not exist. A path from the root (`server/src/app.ts`, `contract/src/`) must be there; a shorter
 * name with an extension (`ledger/caps.ts`) must be somewhere in the code. `<name>` and NNNN stand for any text.
 */
function unknownFiles({ path, text }: Document): string[] {
  const anywhere = ['', 'docs/', '{server,web,contract,e2e,examples/game}/src/', '{server,web,contract,examples/game}/src/**/']
  const places = [
    ...anywhere,
    'server/',
    'server/test/**/',
    'e2e/',
    'e2e/tests/',
    'scripts/',
    'bench/',
    'web/',
    `${dirname(path)}/`,
  ]
  return Array.from(text.matchAll(/`([^`\s]+)`/g), ([, name = '']) => name)
    .filter((name) => /^[\w./*<>{},-]+$/.test(name) && !name.startsWith('/') && !name.startsWith('.'))
    .filter((name) => /^(?:contract|server|web|e2e|bench|scripts|docs|examples|sample)\/|\w\.(?:tsx?|css|md|service)$/.test(name))
    .filter((name) => {
      const pattern = name.replaceAll(/<[\w-]+>|NNNN/g, '*')
      return !places.some((place) => exists(place + pattern))
    })
    .map((name) => `${path}: ${name}`)
}

/** Lists the commands that do not exist: of npm, scripts/run and arcade, with the parts of `npm test` and the files they select. */
function unknownCommands({ path, text }: Document): string[] {
  const scriptsOf = (file: string) => (JSON.parse(read(file)) as { scripts: Record<string, string> }).scripts
  const scripts = {
    ...scriptsOf('package.json'),
    ...(path.startsWith('examples/game/') && scriptsOf('examples/game/package.json')),
  }
  const parts: Record<string, string> = { ...testFolders, check: '', all: '', e2e: 'e2e' }
  const benches = readdirSync(join(root, 'bench'))
  const has = (folder: string, filter: string): boolean =>
    exists(`${folder}/{${filter}*,**/*${filter}*,${filter.replace(/\/?$/, '/')}*}`)

  const npm = Array.from(text.matchAll(/npm run ([\w:-]+)/g), ([command, name = '']) => ({ command, isKnown: name in scripts }))
  const tests = Array.from(text.matchAll(/npm test -- ([\w-]+)(?: ([\w/.-]+))?/g), ([command, part = '', filter = '']) => ({
    command,
    isKnown: part in parts && (filter === '' || filter.startsWith('-') || has(parts[part]!, filter)),
  }))
  const soaks = Array.from(text.matchAll(/npm run test:soak -- ([\w/.]+)/g), ([command, filter = '']) => ({
    command,
    isKnown: filter === 'planted' || has('server', filter),
  }))
  const benched = Array.from(text.matchAll(/npm run bench (?:-- )?([a-z][\w-]*)/g), ([command, name = '']) => ({
    command,
    isKnown: benches.some((file) => file.includes(name)),
  }))
  const run = Array.from(text.matchAll(/sh scripts\/run ([\w-]+)/g), ([command, name = '']) => ({
    command,
    isKnown: existsSync(join(root, `scripts/${name}.ts`)),
  }))
  const arcade = Array.from(text.matchAll(/(?:npm run arcade --|[`*]arcade) ([a-z][a-z-]*)(?: ([a-z]+)\b(?![:/]))?/g)).map(
    ([, name = '', second]) => ({
      command: ['arcade', name, ...(second ? [second] : [])].join(' '),
      isKnown: arcadeCommands.has(name) || (second !== undefined && arcadeCommands.has(`${name} ${second}`)),
    }),
  )
  return [...npm, ...tests, ...soaks, ...benched, ...run, ...arcade]
    .filter(({ isKnown }) => !isKnown)
    .map(({ command }) => `${path}: ${command}`)
}

test('the commands to compare with are read from the usage', () => {
  expect(arcadeCommands).toContain('token list')
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
test.runIf(hasSystemd)('operations: systemd accepts the unit', () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(root, 'docs/arcade-console.service')], {
    encoding: 'utf8',
  })
  expect(stderr).not.toContain('arcade-console.service')
  expect(status).toBe(0)
})

test('every picture in docs/screens is shown by a document', () => {
  const shown = documents.flatMap(({ text }) => Array.from(text.matchAll(/screens\/([\w-]+\.png)/g), ([, name]) => name))
  expect(readdirSync(join(root, 'docs/screens')).filter((name) => !shown.includes(name))).toEqual([])
})

test('every test that conformance.md names exists', () => {
  const folders: Record<string, (name: string) => string> = {
    server: (name) => `server/${name.startsWith('test/') ? '' : 'src/'}${name}.test.ts`,
    databases: (name) => `server/test/databases/${name}.test.ts`,
    faults: (name) => `server/test/faults/${name}.test.ts`,
    web: (name) => `web/src/${name}.test.{ts,tsx}`,
    contract: (name) => `contract/src/${name}.test.ts`,
    e2e: (name) => `e2e/tests/${name}.spec.ts`,
    scripts: (name) => `scripts/${name}.test.ts`,
    bench: (name) => `bench/${name}.bench.ts`,
  }
  // `server:a/b, c/d` names two tests; a title stands in italics.
  const named = Array.from(
    textOf('docs/conformance.md')
      .replace(/^[^]*?\n## /, '')
      .matchAll(/\b(server|databases|faults|web|contract|e2e|scripts|bench):([\w/*-]+(?:,\s+[\w/*-]+(?![\w:]))*)/g),
    ([, where = '', names = '']) => names.split(/,\s+/).map((name) => folders[where]!(name)),
  ).flat()
  expect(named.length).toBeGreaterThan(60)
  expect([...new Set(named)].filter((path) => !exists(path))).toEqual([])
})

test('security.md names more than sixty tests', () => {
  const named = Array.from(textOf('docs/security.md').matchAll(/`(?:[\w-]+\/)*[\w*-]+\.(?:test|spec)\.tsx?`/g))
  expect(named.length).toBeGreaterThan(60)
})

test('every requirement of asvs.md has its test, or says why it has none', () => {
  const rows = Array.from(
    textOf('docs/asvs.md').matchAll(/^\| (\d+\.\d+\.\d+\b.*) \| (.*) \| (.*) \|$/gm),
    ([row, , how = '', held = '']) => ({
      row,
      how,
      held,
    }),
  )
  expect(rows.length).toBeGreaterThan(80)
  const sections = Array.from(textOf('docs/security.md').matchAll(/^## (.+)$/gm), ([, title = '']) => title)
  const isExplained = (how: string): boolean =>
    how.includes('**Deviation**') || sections.some((title) => how.includes(`*${title}*`)) || /\babove\b/.test(how)
  expect(
    rows.filter(
      ({ how, held }) => !/^(?:`[^`]+\.tsx?`(?:, )?)+$|^by construction$/.test(held) && !(held === '–' && isExplained(how)),
    ),
  ).toEqual([])
})

/** That documents lead somewhere: their links to files, and the tests that conformance.md and security.md name. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './children.ts'

const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}))
const textOf = (path: string): string => documents.find((document) => document.path === path)?.text ?? ''

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

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
test.runIf(hasSystemd)('operations: systemd takes the unit as it is', () => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(root, 'docs/arcade-console.service')], {
    encoding: 'utf8',
  })
  expect(stderr).not.toContain('arcade-console.service')
  expect(status).toBe(0)
})

test('every test that conformance.md names is there', () => {
  const folders: Record<string, (name: string) => string> = {
    server: (name) => `server/${name.startsWith('test/') ? '' : 'src/'}${name}.test.ts`,
    e2e: (name) => `e2e/tests/${name}.spec.ts`,
    scripts: (name) => `scripts/${name}.test.ts`,
  }
  const [, ...rows] = textOf('docs/conformance.md').split('\n## ')
  // `server:a/b, c/d` names two of them; what stands in italics is a title.
  const named = Array.from(
    rows.join('').matchAll(/\b(server|e2e|scripts):([\w/*-]+(?:, [\w/-]+)*)/g),
    ([, where = '', names = '']) => names.split(', ').map((name) => folders[where]!(name)),
  ).flat()
  expect(named.length).toBeGreaterThan(60)
  expect([...new Set(named)].filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([])
})

test('every file that security.md names is there, its tests and its code', () => {
  const places = ['', 'server/src/', 'server/src/**/', 'server/', 'server/test/**/', 'e2e/tests/', 'web/src/', 'scripts/']
  const named = Array.from(
    textOf('docs/security.md').matchAll(/`((?:[\w-]+\/)*[\w*-]+(?:\.(?:test|spec|bench))?\.tsx?)`/g),
    ([, name = '']) => name,
  )
  expect(named.filter((name) => name.includes('.test.')).length).toBeGreaterThan(60)
  const isThere = (name: string): boolean => places.some((place) => globSync(place + name, { cwd: root }).length > 0)
  expect([...new Set(named)].filter((name) => !isThere(name))).toEqual([])
})

test('every requirement of security.md’s table has its test, or says why it has none', () => {
  const [, table = ''] = textOf('docs/security.md').split('\n## ASVS 5.0.0')
  const rows = Array.from(table.matchAll(/^\| (\d+\.\d+\.\d+\b.*) \| (.*) \| (.*) \|$/gm), ([row, , how = '', held = '']) => ({
    row,
    how,
    held,
  }))
  expect(rows.length).toBeGreaterThan(80)
  const isExplained = (how: string): boolean => how.includes('**Deviation**') || /\b(above|paragraph)\b/.test(how)
  expect(
    rows.filter(
      ({ how, held }) => !/^(?:`[^`]+\.tsx?`(?:, )?)+$|^by construction$/.test(held) && !(held === '–' && isExplained(how)),
    ),
  ).toEqual([])
})

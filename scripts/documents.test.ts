/** That documents lead somewhere: their links to files, and the tests that conformance.md and security.md name. */
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

test('every test that conformance.md names is there', () => {
  const folders: Record<string, (name: string) => string> = {
    server: (name) => `server/src/${name}.test.ts`,
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

test('every test that security.md names is there', () => {
  const named = Array.from(textOf('docs/security.md').matchAll(/`((?:[\w-]+\/)*[\w*-]+\.test\.ts)`/g), ([, name = '']) => name)
  expect(named.length).toBeGreaterThan(20)
  expect([...new Set(named)].filter((name) => globSync(`server/src/**/${name}`, { cwd: root }).length === 0)).toEqual([])
})

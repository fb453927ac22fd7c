import { expect, test } from 'vitest'
import { largeName, withSection } from './performance.ts'

const audit = { name: 'audit', ran: '2026-11-22, a machine, load 2.7' }
const rows = [
  { question: 'a page', ours: '100 requests/s', limit: '200 requests/s', ratio: '50 %', bound: '≥ 60 %', isMet: false },
  { question: 'its size', ours: '3 MB', isMet: true },
]

test('an area has a table with a row for each question, and when each bench ran on which machine', () => {
  const document = withSection('', { ...audit, rows })
  expect(document).toMatch(/^# Performance\n/)
  expect(document).toContain(
    [
      '| what | ours | to limit | bound | bench |',
      '|---|--:|--:|--:|---|',
      '| audit trail: a page | 100 requests/s | 50 % | ≥ 60 % **missed** | audit |',
      '',
      'Measured on 2026-11-22, a machine: `audit` load 2.7.',
      '',
    ].join('\n'),
  )
})

test('a run replaces the rows of its own bench and leaves the others as they are', () => {
  const names = ['claims', 'users', 'audit', 'history']
  const all = names.reduce((document, name) => withSection(document, { ...audit, name, rows }), '')
  expect([...all.matchAll(/^\| .* \| (\w+) \|$/gm)].map(([, name]) => name)).toEqual([
    'bench',
    'users',
    'history',
    'audit',
    'bench',
    'claims',
  ])
  const question = { question: 'a page', ours: '150 requests/s', isMet: true }
  const again = withSection(all, { name: 'audit', ran: '2026-11-23, another, load 1.0', rows: [question] })
  expect(again).toContain('| audit trail: a page | 150 requests/s | – | – | audit |')
  expect(again).toContain('2026-11-22, a machine: `users` load 2.7, `history` load 2.7; 2026-11-23, another: `audit` load 1.0.')
  expect(withSection(again, { ...audit, rows })).toBe(all)
})

test('a run with --large has rows of its own, which a usual run does not replace', () => {
  const large = withSection('', { ...audit, name: largeName('audit'), rows })
  expect(large).toContain('| audit trail: a page | 100 requests/s | 50 % | ≥ 60 % **missed** | audit --large |')
  const both = withSection(large, { ...audit, ran: '2026-11-23, another, load 1.0', rows })
  expect(both).toContain('| ≥ 60 % **missed** | audit |\n| audit trail: a page')
  expect(both).toContain('Measured on 2026-11-23, another: `audit` load 1.0; 2026-11-22, a machine: `audit --large` load 2.7.')
  expect(withSection(both, { ...audit, name: largeName('audit'), rows })).toBe(both)
})

test('the p99 of a question stands in the cells of its row, with its own ratio and bound', () => {
  const p99 = { question: 'a page: p99', ours: '30 ms', ratio: '2', bound: '≤ 1.5', isMet: false }
  const met = { ...rows[0]!, isMet: true }
  const document = withSection('', { ...audit, rows: [met, p99, { ...p99, question: 'another: p99' }] })
  expect(document).toContain('| audit trail: a page | 100 requests/s, p99 30 ms | 50 %, 2 | ≥ 60 %, ≤ 1.5 **missed** | audit |')
  expect(document).toContain('| audit trail: another: p99 | 30 ms | 2 | ≤ 1.5 **missed** | audit |')
})

test('of questions of one kind with one bound, the slowest that meets it has a row, and each that misses it', () => {
  const question = (text: string, ours: string, isMet = true) => ({ question: text, ours, bound: '≤ 200 ms', isMet })
  const names = ['A', 'B', 'C', 'D'].map((name, index) => question(`A–Z: ${name}: p99`, `${index === 1 ? '1,020' : index} ms`))
  const missed = question('A–Z: slow: p99', '300 ms', false)
  const others = ['E', 'F', 'G'].map((name) => question(`newest: ${name}: p99`, '5 ms'))
  const table = withSection('', { ...audit, rows: [...names, missed, ...others] }).match(/^\| audit trail: .*$/gm)
  expect(table).toEqual([
    '| audit trail: slowest of 4: A–Z: B: p99 | 1,020 ms | – | ≤ 200 ms | audit |',
    '| audit trail: A–Z: slow: p99 | 300 ms | – | ≤ 200 ms **missed** | audit |',
    ...['E', 'F', 'G'].map((name) => `| audit trail: newest: ${name}: p99 | 5 ms | – | ≤ 200 ms | audit |`),
  ])
})

test('a bench without bounds shows all but the parts of a row, and no text is wider than 130 characters', () => {
  const parts = ['one player', 'one player: row', 'one player: index `a`'].map((question) => ({
    question,
    ours: '1 byte',
    isMet: true,
  }))
  const benches = ['start', 'crash', 'sign-in', 'operators', 'storage']
  const document = benches.reduce((text, name) => withSection(text, { ...audit, name, rows: parts }), '')
  expect(document).toContain('| storage: one player | 1 byte | – | – | storage |')
  expect(document).not.toContain('one player: row')
  expect(document).not.toContain('index `a`')
  for (const line of document.split('\n').filter((text) => !text.startsWith('|'))) expect(line.length).toBeLessThanOrEqual(130)
})

test('a bench that belongs to no area is refused', () => {
  expect(() => withSection('', { ...audit, name: 'unknown', rows })).toThrow('no area')
})

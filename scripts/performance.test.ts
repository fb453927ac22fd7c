import { expect, test } from 'vitest'
import { headComment, withSection } from './performance.ts'

const audit = { name: 'audit', about: 'The trail.', command: 'npm run bench audit', ran: '2026-11-22, a machine' }
const rows = [
  { question: 'a page', ours: '100 requests/s', limit: '200 requests/s', ratio: '50 %', bound: '≥ 60 %', isMet: false },
  { question: 'its size', ours: '3 MB', isMet: true },
]

test('a section has the command, the machine and a row for each question', () => {
  const document = withSection('', { ...audit, rows })
  expect(document).toMatch(/^# Performance\n/)
  expect(document).toContain(
    [
      '## audit',
      '',
      'The trail. `npm run bench audit`, 2026-11-22, a machine:',
      '',
      '| question | ours | to limit | bound |',
      '|---|--:|--:|--:|',
      '| a page | 100 requests/s | 50 % | ≥ 60 % **missed** |',
      '',
    ].join('\n'),
  )
})

test('a run replaces its own section and leaves the others as they are', () => {
  const both = withSection(withSection('', { ...audit, name: 'users', rows }), { ...audit, rows })
  expect([...both.matchAll(/^## (.*)$/gm)].map(([, name]) => name)).toEqual(['audit', 'users'])
  const again = withSection(both, { ...audit, rows: [{ question: 'a page', ours: '150 requests/s', isMet: true }] })
  const [, , usersBefore] = both.split(/^## /m)
  const [, auditAfter, usersAfter] = again.split(/^## /m)
  expect(usersAfter).toBe(usersBefore)
  expect(auditAfter).toContain('| a page | 150 requests/s |')
  expect(auditAfter).not.toContain('its size')
})

test('the p99 of a question stands in the cells of its row, with its own ratio and bound', () => {
  const p99 = { question: 'a page: p99', ours: '30 ms', ratio: '2', bound: '≤ 1.5', isMet: false }
  const met = { ...rows[0]!, isMet: true }
  const document = withSection('', { ...audit, rows: [met, p99, { ...p99, question: 'another: p99' }] })
  expect(document).toContain('| a page | 100 requests/s, p99 30 ms | 50 %, 2 | ≥ 60 %, ≤ 1.5 **missed** |')
  expect(document).toContain('| another: p99 | 30 ms | 2 | ≤ 1.5 **missed** |')
})

test('a section shows the first sentence about it, in lines of at most 130 characters', () => {
  const about = `security.md, Audit: verifies ${'the whole trail and '.repeat(10)}its head, e.g. of today. It takes minutes.`
  const [, text = ''] = withSection('', { ...audit, about, rows }).split('## audit\n\n')
  const paragraph = text.slice(0, text.indexOf('\n\n'))
  expect(paragraph.replaceAll('\n', ' ')).toMatch(/^Verifies the whole .* its head, e\.g\. of today\. `npm run bench audit`/)
  expect(paragraph.split('\n').length).toBeGreaterThan(1)
  for (const line of paragraph.split('\n')) expect(line.length).toBeLessThanOrEqual(130)
})

test('the text about a section is the comment at the head of its bench', () => {
  expect(headComment('/**\n * Pages of players\n * at 1M.\n */\nimport x')).toBe('Pages of players\nat 1M.')
  expect(headComment('/** Signing in. */\nimport x')).toBe('Signing in.')
})

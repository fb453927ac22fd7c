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

test('what a section is about stands at the head of its file', () => {
  expect(headComment('/**\n * Pages of players\n * at 1M.\n */\nimport x')).toBe('Pages of players\nat 1M.')
  expect(headComment('/** Signing in. */\nimport x')).toBe('Signing in.')
})

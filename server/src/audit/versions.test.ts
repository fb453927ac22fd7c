/** Undoing the changes of later audit entries: the result is exact, or refused where the entries do not fit together. */
import { expect, test } from 'vitest'
import { undone, type VersionEntry } from './versions.ts'

const entry = (seq: number, version: number | undefined, changes: VersionEntry['changes']): VersionEntry => ({
  seq,
  version,
  changes,
  isErased: false,
})
const created = entry(3, 1, { title: [null, 'A'], reward: [null, 1] })
const renamed = entry(7, 2, { title: ['A', 'B'] })
const paid = entry(9, 3, { reward: [1, 2.5], title: ['B', 'C'] })
const present = { fields: { id: 'x', title: 'C', link: null, reward: 2.5 }, version: 3 }

test('each field is taken back through all later entries', () => {
  expect(undone(present, [paid, renamed, created], 3)).toEqual({ id: 'x', title: 'A', link: null, reward: 1 })
  expect(undone(present, [paid, renamed], 7)).toEqual({ id: 'x', title: 'B', link: null, reward: 1 })
})

test('a record can be taken back to before it was deleted and restored', () => {
  const removed = entry(8, undefined, { title: ['B', null], reward: [1, null] })
  const restored = entry(9, 3, { title: [null, 'B'], reward: [null, 1] })
  expect(undone({ fields: { title: 'B', reward: 1 }, version: 3 }, [restored, removed, renamed, created], 3)).toEqual({
    title: 'A',
    reward: 1,
  })
})

test('fields that are not requested are left out, and acts without changes do not count as versions', () => {
  const other = entry(8, 3, { userType: ['user', 'admin'] })
  const password = entry(9, undefined, null)
  expect(undone({ fields: { title: 'B' }, version: 3 }, [password, other, renamed], 7)).toEqual({ title: 'B' })
})

test('a record that is older than its entries can be taken back to before them', () => {
  expect(undone(present, [paid, renamed], 0)).toEqual({ id: 'x', title: 'A', link: null, reward: 1 })
})

test.each([
  ['the oldest entry made the record', [paid, renamed, created], 0, 'NO_SUCH_VERSION'],
  ['the oldest entry was erased', [paid, { ...renamed, isErased: true }], 0, 'VERSION_GAP'],
  ['the entry does not exist', [paid, renamed], 3, 'NO_SUCH_VERSION'],
  ['there are no entries', [], 3, 'NO_SUCH_VERSION'],
  ['the entry was erased', [paid, { ...renamed, isErased: true }], 7, 'NO_SUCH_VERSION'],
  ['a later entry was erased', [{ ...paid, isErased: true }, renamed], 7, 'VERSION_GAP'],
  ['an entry in between is missing', [paid, created], 3, 'VERSION_GAP'],
  ['the newest entry is missing', [renamed, created], 3, 'VERSION_GAP'],
  ['the record has other values', [entry(8, 3, { reward: [1, 9] }), renamed], 7, 'VERSION_GAP'],
] as const)('is refused if %s', (_what, entries, seq, code) => {
  expect(() => undone(present, entries, seq)).toThrow(expect.objectContaining({ code }))
})

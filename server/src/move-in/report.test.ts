/** The report stays small, however many different reasons, fields and collections an export has. */
import { expect, test } from 'vitest'
import {
  addExample,
  addOther,
  addReason,
  addUnmapped,
  type CollectionReport,
  type MoveInReport,
  newCollectionReport,
  noExamples,
  noNames,
} from './report.ts'

test('repeated ids are one reason, and further reasons, fields and collections are counted together', () => {
  const reasons: CollectionReport['reasons'] = {}
  for (const line of [3, 17]) addReason(reasons, `Line ${line} has the same id: only the first of them is read`, `users/${line}`)
  expect(reasons).toEqual({
    'An earlier document has the same id: only the first of them is read': { count: 2, documents: ['users/3', 'users/17'] },
  })
  const unmapped: CollectionReport['unmapped'] = {}
  const others: MoveInReport['otherCollections'] = {}
  for (let n = 0; n < 2000; n += 1) {
    addReason(reasons, `reason ${n}`, `users/${n}`)
    addUnmapped(unmapped, `field ${n}`, { value: n, document: `users/${n}`, isKept: false })
    addOther(others, `collection ${n}`, `users/${n}`)
  }
  expect(Object.keys(reasons)).toHaveLength(101)
  expect(reasons['(further ones)']).toMatchObject({ count: 1901 })
  expect([Object.keys(unmapped).length, unmapped['(further ones)']?.count]).toEqual([1001, 1000])
  expect([Object.keys(others).length, others['(further ones)']?.documents]).toEqual([1001, 1000])
})

test('names that every object has are names like all others', () => {
  const { unmapped, reasons } = newCollectionReport()
  const others = noNames<MoveInReport['otherCollections'][string]>()
  for (const name of ['constructor', 'toString', '__proto__']) {
    addReason(reasons, name, 'users/1')
    addUnmapped(unmapped, name, { value: 1, document: 'users/1', isKept: false })
    addOther(others, name, 'users/1')
  }
  for (const counted of [reasons, unmapped, others])
    expect(Object.keys(JSON.parse(JSON.stringify(counted)) as object)).toEqual(['constructor', 'toString', '__proto__'])
})

test('only the first documents are named', () => {
  const examples = noExamples()
  for (let n = 0; n < 30; n += 1) addExample(examples, `users/${n}`)
  expect(examples.count).toBe(30)
  expect(examples.documents).toHaveLength(20)
})

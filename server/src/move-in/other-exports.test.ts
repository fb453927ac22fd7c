/** The readers of other exporters' files. The formats are those that the exporters' own documents show. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findOtherExports, readOtherExport } from './other-exports.ts'

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

async function read(name: string, content: unknown): Promise<[path: string, json: string][]> {
  const file = path.join(await folder(), name)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  const documents: [string, string][] = []
  for await (const document of readOtherExport(file)) documents.push([document.path.join('/'), JSON.stringify(document.fields)])
  return documents.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

test('node-firestore-import-export: nested __collections__, before and after fields, with values of Firestore', async () => {
  const created = { __datatype__: 'timestamp', value: { _seconds: 1_700_000_000, _nanoseconds: 7890 } }
  const documents = await read('backup.json', {
    __collections__: {
      users: {
        a: { fname: 'Ada', created, map: { __collections__: 1, x: [1, { y: 2 }] }, __collections__: {} },
        'b/"\\é': { fname: 'Bo', __collections__: {} },
      },
      socialTasksHistory: {
        t1: { title: 'T', __collections__: { users: { 7: { id: 7, __collections__: {} }, 8: { id: 8 } } }, reward: 5 },
        gone: { __collections__: { users: { 9: { id: 9 } } } },
      },
    },
  })
  expect(documents).toEqual([
    ['socialTasksHistory/gone/users/9', '{"id":9}'],
    ['socialTasksHistory/t1', '{"title":"T","reward":5}'],
    ['socialTasksHistory/t1/users/7', '{"id":7}'],
    ['socialTasksHistory/t1/users/8', '{"id":8}'],
    ['users/a', JSON.stringify({ fname: 'Ada', created, map: { __collections__: 1, x: [1, { y: 2 }] } })],
    ['users/b/"\\é', '{"fname":"Bo"}'],
  ])
})

test('firestore-export-import: collections at the top, subcollections by their whole path; digits stay', async () => {
  const documents = await read(
    'export.json',
    '{"users": {"a": {"fname": "Ada", "big": 9007199254740993, "tiny": 1e-400}}, "dailyTasksHistory": {"d": {"title": "D", ' +
      '"subCollection": {"dailyTasksHistory/d/users": {"7": {"id": 7, "subCollection": {}}}}}}}',
  )
  expect(documents).toEqual([
    ['dailyTasksHistory/d', '{"title":"D"}'],
    ['dailyTasksHistory/d/users/7', '{"id":7}'],
    ['users/a', '{"fname":"Ada","big":9007199254740993,"tiny":1e-400}'],
  ])
})

test('firestore-backfire: a line for each document', async () => {
  const line = (target: string, data: object) => JSON.stringify({ path: target, data, timestamps: [] })
  expect(await read('export.ndjson', `${line('users/a', { n: 1 })}\n\n${line('h/t/users/7', { n: 2 })}\n`)).toEqual([
    ['h/t/users/7', '{"n":2}'],
    ['users/a', '{"n":1}'],
  ])
})

test.each([
  ['a.ndjson', '{"id": "a"}', 'line 1: there is no path of a document with its data'],
  ['a.ndjson', '{"path": "users", "data": {}}', 'there is no path of a document'],
  ['a.ndjson', '{"path": "users/a", "data": {}}\n{', 'line 2: this is not valid JSON'],
  ['a.json', '{"users": {"a": {"n": nul}}}', 'users/a has a field n that is not valid JSON'],
  ['a.json', '{"users": {"a": {"n": 1', 'ends in the middle of its JSON'],
  ['a.json', 'no JSON', 'has no documents'],
  ['a.json', '[{"fname": "Ada"}]', 'has no documents'],
])('%s with %j is refused', async (name, text, reason) => {
  await expect(read(name, text)).rejects.toThrow(new RegExp(reason))
})

test('files of Firebase itself, refused rows and the map file are no exports of others', async () => {
  const made = await folder()
  const names = [
    'auth.json',
    'hash.json',
    'firebase-export-metadata.json',
    'map.json',
    'rejected-2.ndjson',
    'b.json',
    'a.ndjson',
    'c.txt',
  ]
  for (const name of names) await writeFile(path.join(made, name), '{}')
  expect(await findOtherExports(made, path.join(made, 'map.json'))).toEqual(
    ['a.ndjson', 'b.json'].map((name) => path.join(made, name)),
  )
})

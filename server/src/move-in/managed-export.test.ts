/** The reader of managed exports: all kinds of values and paths, and what it says of damaged and mixed exports. */
import { cp, mkdir, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as firestore from '#test/firestore-export.ts'
import { crc32c } from './crc32c.ts'
import type { FirestoreDocument } from './entity.ts'
import { findManagedExport, readDocuments } from './managed-export.ts'

const OUTPUT = 'firestore_export/all_namespaces/all_kinds/output-0'

async function folderOf(...files: firestore.Documents[]): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await firestore.writeExport(path.join(folder, 'firestore_export'), { files })
  return folder
}

async function read(folder: string): Promise<FirestoreDocument[]> {
  const found = await findManagedExport(folder)
  const documents: FirestoreDocument[] = []
  for await (const batch of readDocuments(found!)) documents.push(...batch)
  return documents
}

async function readJson(folder: string): Promise<Record<string, unknown>> {
  const documents = await read(folder)
  return Object.fromEntries(documents.map(({ path: at, fields }) => [at.join('/'), JSON.parse(JSON.stringify(fields))]))
}

test('CRC-32C is that of RFC 3720, appendix B.4', () => {
  const ascending = Buffer.from(Array.from({ length: 32 }, (_, n) => n))
  expect(crc32c(Buffer.alloc(32)).toString(16)).toBe('8a9136aa')
  expect(crc32c(Buffer.alloc(32, 0xff)).toString(16)).toBe('62a8ab43')
  expect(crc32c(ascending).toString(16)).toBe('46dd794e')
  expect(crc32c(ascending, 5, 32, crc32c(ascending, 0, 5))).toBe(crc32c(ascending))
})

test('every kind of value is read, also in lists and maps', async () => {
  const folder = await folderOf({
    'all/kinds': {
      nothing: null,
      yes: true,
      no: false,
      zero: 0,
      negative: -1,
      safe: Number.MAX_SAFE_INTEGER,
      large: 2n ** 63n - 1n,
      small: -(2n ** 63n),
      fraction: 0.1,
      whole: firestore.double(7),
      infinite: firestore.double(Infinity),
      time: firestore.time(1_700_000_000_123_456n),
      before1970: firestore.time(-1n),
      text: 'Ünïcödé 🎲',
      long: 'x'.repeat(70_000),
      bytes: firestore.bytes(Buffer.from([0, 255])),
      place: firestore.point(52.5, -13.4),
      other: firestore.reference('dev~game', 'socialTask/a/users/7'),
      list: ['a', 1, null, { deep: [true] }],
      none: [],
      map: { a: { b: { c: 'deep' } }, __proto: 1 },
    },
  })
  const { long, ...fields } = (await readJson(folder))['all/kinds'] as Record<string, unknown>
  expect(long).toHaveLength(70_000)
  expect(fields).toEqual({
    nothing: null,
    yes: true,
    no: false,
    zero: 0,
    negative: -1,
    safe: Number.MAX_SAFE_INTEGER,
    large: Number(2n ** 63n - 1n),
    small: -(2 ** 63),
    fraction: 0.1,
    whole: 7,
    infinite: { __double__: 'Infinity' },
    time: { __time__: '2023-11-14T22:13:20.123456Z' },
    before1970: { __time__: '1969-12-31T23:59:59.999999Z' },
    text: 'Ünïcödé 🎲',
    bytes: { __bytes__: 'AP8=' },
    place: { __lat__: 52.5, __lon__: -13.4 },
    other: { __ref__: 'socialTask/a/users/7' },
    list: ['a', 1, null, { deep: [true] }],
    none: [],
    map: { a: { b: { c: 'deep' } }, __proto: 1 },
  })
  const [document] = await read(folder)
  expect(JSON.stringify(document)).toContain('"large":9223372036854775807,"small":-9223372036854775808')
})

test('a value of an unknown kind is marked and stops nothing', async () => {
  const folder = await folderOf({ 'users/a': { odd: firestore.strange(), odder: firestore.meant(31, 'x'), fname: 'Ada' } })
  expect(await readJson(folder)).toEqual({
    'users/a': {
      odd: { __unknown__: expect.stringContaining('not known here (meaning 0)') },
      odder: { __unknown__: expect.stringContaining('(meaning 31)') },
      fname: 'Ada',
    },
  })
})

test('documents keep their paths, also in subcollections, of parents that do not exist, with ids of any kind, over several files', async () => {
  const first = { 'users/a b': { n: 1 }, 'socialTasksHistory/gone/users/7': { n: 2 } }
  const second = { 'users/__id42__': { n: 3 }, 'users/Ⓤ.%2F': {} }
  const folder = await folderOf(first, second)
  expect(await readJson(folder)).toEqual({ ...first, ...second })
  expect((await findManagedExport(path.join(folder, 'firestore_export')))?.stated).toBe(4)
})

test('records of all lengths around the end of a block are read', async () => {
  const files = Array.from({ length: 3 }, (_, file) =>
    Object.fromEntries(
      Array.from({ length: 40 }, (__, n) => [`c/${file}-${n}`, { text: 'x'.repeat(file * 13 + (n % 2 === 0 ? 32_600 : n)) }]),
    ),
  )
  const folder = await folderOf(...files)
  expect(await readJson(folder)).toEqual(Object.assign({}, ...files))
})

const people = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`users/u${n}`, { fname: `Person ${n}` }]))

test('a flipped bit anywhere is found, and the message names the file and the byte', async () => {
  const folder = await folderOf(people)
  const file = path.join(folder, OUTPUT)
  const whole = await readFile(file)
  for (let at = 3; at < whole.length; at += 9973) {
    const flipped = Buffer.from(whole)
    flipped[at]! ^= 1 << (at % 8)
    await writeFile(file, flipped)
    await expect(read(folder)).rejects.toThrow(new RegExp(`^${file} (is damaged at|ends at) byte \\d+`))
  }
  const flipped = Buffer.from(whole)
  flipped[20]! ^= 1
  await writeFile(file, flipped)
  await expect(read(folder)).rejects.toThrow(
    `${file} is damaged at byte 0: the checksum of a record is wrong. Copy the export again.`,
  )
})

test('a file that was cut off is refused', async () => {
  const folder = await folderOf(people)
  const file = path.join(folder, OUTPUT)
  const { length } = await readFile(file)
  for (const missing of [1, 5, 40_000]) {
    await truncate(file, length - missing)
    await expect(read(folder)).rejects.toThrow(
      `${file} ends at byte ${length - missing} in the middle of the record that begins at`,
    )
  }
})

test('bytes that are no entity are refused although their checksum is right', async () => {
  const folder = await folderOf(people)
  await writeFile(path.join(folder, OUTPUT), firestore.logOf([Buffer.from([0x6a, 0x7f, 1])]))
  await expect(read(folder)).rejects.toThrow('output-0 is damaged at byte 0: a value that ends beyond its message')
})

test('an export of some collections that was copied from another folder is read', async () => {
  const folder = await folderOf(people)
  const place = path.join(folder, 'firestore_export/firestore_export.overall_export_metadata')
  const metadata = 'all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata'
  await firestore.writeOverall(place, [
    { place: `2026-01-31/${metadata}`, documents: 1999 },
    { place: `2026-01-31/${metadata}`, documents: 1 },
  ])
  expect(await read(folder)).toHaveLength(2000)
  expect((await findManagedExport(folder))?.stated).toBe(2000)
})

test('an export of 2017, of kinds of Datastore in folders of their own, is read; an older backup is refused by its name', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const name = '2017-11-20T10:11:12_4711'
  const exported = path.join(folder, name)
  const kinds: Record<string, firestore.Documents> = {
    users: { 'users/__id42__': { fname: firestore.meant(3, 'Ada'), email: firestore.meant(8, 'ada@gmail.com') } },
    telegramUsers: {
      'telegramUsers/__id4711__': {
        phoneNumber: firestore.meant(11, '+49 30 1'),
        createdAt: firestore.time(1_500_000_000_000_000n),
        address: { city: 'Berlin' },
      },
    },
  }
  for (const [kind, documents] of Object.entries(kinds)) {
    await firestore.writeExport(exported, { files: [documents], project: 's~game' })
    await rename(path.join(exported, 'all_namespaces/all_kinds'), path.join(exported, `all_namespaces/kind_${kind}`))
  }
  await firestore.writeOverall(
    path.join(exported, `${name}.overall_export_metadata`),
    Object.keys(kinds).map((kind) => ({
      place: `all_namespaces/kind_${kind}/all_namespaces_all_kinds.export_metadata`,
      documents: 1,
    })),
  )
  expect(await readJson(folder)).toEqual({
    'users/__id42__': { fname: 'Ada', email: 'ada@gmail.com' },
    'telegramUsers/__id4711__': {
      phoneNumber: '+49 30 1',
      createdAt: { __time__: '2017-07-14T02:40:00.000000Z' },
      address: { city: 'Berlin' },
    },
  })
  expect((await findManagedExport(folder))?.stated).toBe(2)

  await rm(exported, { recursive: true })
  await mkdir(path.join(folder, 'backup'))
  await writeFile(path.join(folder, 'backup/ahFzfmdhbWU.users.backup_info'), firestore.logOf([Buffer.from('1')]))
  await expect(findManagedExport(folder)).rejects.toThrow(
    /users\.backup_info is of a backup of App Engine's Datastore Admin, .* run gcloud firestore export/,
  )
})

test('a missing file, one too many, and a folder without an export are told', async () => {
  const folder = await folderOf(people)
  const file = path.join(folder, OUTPUT)
  await cp(file, `${file}0`)
  await expect(read(folder)).rejects.toThrow('output-00 belongs to no part of the export: two exports seem to be mixed')
  await rm(`${file}0`)
  await rm(file)
  await expect(read(folder)).rejects.toThrow('output-0 is missing, which the export names')
  await rm(path.join(folder, 'firestore_export/all_namespaces'), { recursive: true })
  await expect(read(folder)).rejects.toThrow('all_namespaces_all_kinds.export_metadata is missing')
  await rm(path.join(folder, 'firestore_export'), { recursive: true })
  expect(await findManagedExport(folder)).toBeUndefined()
})

test('two exports are refused, beside each other or mixed', async () => {
  const folder = await folderOf(people)
  await firestore.writeExport(path.join(folder, 'other'), { files: [people], project: 's~other' })
  await expect(read(folder)).rejects.toThrow('There are several exports of Firestore')
  const [own, other] = [path.join(folder, OUTPUT), path.join(folder, OUTPUT.replace('firestore_export', 'other'))]
  await cp(other, own)
  await rm(path.join(folder, 'other'), { recursive: true })
  await mkdir(path.join(folder, 'storage'))
  expect(await read(folder)).toHaveLength(2000)
  await firestore.writeExport(path.join(folder, 'firestore_export'), { files: [people, people] })
  const second = own.replace(/0$/, '1')
  await firestore.writeExport(path.join(folder, 'storage'), { files: [people], project: 's~other' })
  await cp(path.join(folder, OUTPUT.replace('firestore_export', 'storage')), second)
  await rm(path.join(folder, 'storage'), { recursive: true })
  await expect(read(folder)).rejects.toThrow(/output-0 is of dev~game, .*output-1 of s~other/)
})

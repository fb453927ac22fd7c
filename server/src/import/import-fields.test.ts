/** A new field in the import: it is read and written without further code, and what cannot be derived must be given. */
import { expect, test } from 'vitest'
import { playerEntity, taskEntity } from '#src/db/entities.ts'
import { importedColumns, importedFields, importedPlayers } from './import-rows.ts'

const withCountry = {
  ...playerEntity,
  fields: { ...playerEntity.fields, country: { label: 'Country', kind: 'text', isOptional: true } },
} as const

test('§3 a new field is read according to its kind and written to its column', () => {
  const fields = importedFields({ entity: withCountry, own: [], readers: {} })
  expect(importedColumns(fields)).toEqual({ ...importedColumns(importedPlayers), country: 'text' })
  const country = fields.find(({ name }) => name === 'country')!
  expect(country.read({ country: 'TR' }, 'country')).toBe('TR')
  expect(country.read({ country: '' }, 'country')).toBeNull()
  expect(() => country.read({ country: 5 }, 'country')).toThrow('country must be a text')
})

test('missing and misspelt names do not compile', () => {
  // @ts-expect-error a reader for a field that does not exist
  importedFields({ entity: playerEntity, own: [], readers: { land: () => null } })
  // @ts-expect-error a reader for a field that the console sets itself
  importedFields({ entity: taskEntity, own: ['version'], readers: { version: () => 1 } })
  // @ts-expect-error the field to leave out does not exist
  importedFields({ entity: taskEntity, own: ['revision'], readers: {} })
  // @ts-expect-error the number of participants has no column, so nothing can be imported into it
  importedFields({ entity: taskEntity, own: [], readers: { numberOfParticipants: () => 1 } })
  expect(importedFields({ entity: taskEntity, own: ['version'], readers: {} }).map(({ name }) => name)).not.toContain('version')
})

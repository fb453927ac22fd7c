import { readFile } from 'node:fs/promises'
import { expect, inject, test } from 'vitest'
import { readSchema, schemaFiles } from './schema-files.ts'
import { onServer, withDatabase } from './test-server.ts'

/** The major version that wrote the files, the embedded one. Other versions print some expressions differently. */
const POSTGRES_VERSION = 18

test('schema.sql and tables.ts match the migrations; after a new migration, run node server/test/write-schema.ts', async ({
  skip,
}) => {
  const { url, template } = inject('testServer')
  const [schema, version] = await onServer(withDatabase(url, template), async (query) => {
    const [row] = await query<{ version: number }>(`select current_setting('server_version_num')::int / 10000 as version`)
    return [await readSchema(query), row!.version]
  })
  skip(version !== POSTGRES_VERSION, `PostgreSQL ${version} prints some expressions differently`)
  for (const { file, text } of schemaFiles(schema))
    expect(text, `${file.pathname} is outdated`).toBe(await readFile(file, 'utf8'))
})

/** `node server/test/write-schema.ts`: writes `server/src/db/schema.sql` and `tables.ts` from a freshly migrated database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { openDatabase } from '#src/db/database.ts'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { readSchema, schemaFiles } from './schema-files.ts'
import { onServer, urlOf } from './test-server.ts'

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'arcade-schema-'))
const log = pino({ level: 'silent' })
const cluster = embeddedCluster({ dataDir, log, isForTests: true, overrides: { fsync: 'off' } })
const running = await cluster.ensureRunning()
try {
  const database = await openDatabase({ dataDir, url: urlOf(running), log, use: 'command' })
  await database.close()
  const schema = await onServer(urlOf(running), readSchema)
  for (const { file, text } of schemaFiles(schema)) await writeFile(file, text)
} finally {
  await cluster.stop(running.pid, 5_000)
  await rm(dataDir, { recursive: true, force: true })
}

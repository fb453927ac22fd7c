/**
 * A process that opens the database as the server or a command does, so that tests can talk to it and kill it. Its argument is
 * `ProcessOptions` as JSON. Each line of stdin is a `Request`; each line of stdout is a `ProcessAnswer` or a `ProcessEvent`, all as JSON.
 */
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { pino } from 'pino'
import { type Database, openDatabase } from '#src/db/database.ts'
import { StartError, isDiskFull, isUnavailable } from '#src/postgres/errors.ts'

export interface ProcessOptions {
  dataDir: string
  url?: string
  use: 'server' | 'command'
}

export type ProcessAnswer =
  | { id: number; rows: Record<string, unknown>[] }
  | { id: number; error: { message: string; isUnavailable: boolean; isDiskFull: boolean } }
export type ProcessEvent = { event: 'opened' | 'closed' | 'gap' } | { event: 'refused' | 'fatal' | 'heard'; message: string }

await main(JSON.parse(process.argv[2] ?? '{}') as ProcessOptions)

async function main(options: ProcessOptions): Promise<void> {
  let database: Database | undefined
  const log = pino({ level: 'debug' }, pino.destination({ dest: 2, sync: true }))
  const onFatal = ({ message }: Error) => {
    print({ event: 'fatal', message })
    process.exit(1)
  }
  const starting = new AbortController()
  process.on('SIGTERM', () => {
    starting.abort()
    void database?.close().then(() => {
      print({ event: 'closed' })
      process.exit(0)
    })
  })
  try {
    database = await openDatabase({ ...options, log, onFatal, signal: starting.signal })
    print({ event: 'opened' })
  } catch (error) {
    if (error === starting.signal.reason) process.exit(0)
    if (!(error instanceof StartError)) throw error
    print({ event: 'refused', message: error.message })
    process.exit(1)
  }
  for await (const line of createInterface(process.stdin)) void answer(database, JSON.parse(line) as Request)
}

interface Request {
  id: number
  sql?: string
  listen?: string
  asks?: 'isSpaceLow'
}

async function answer(database: Database, { id, sql: statement, listen, asks }: Request): Promise<void> {
  try {
    if (listen !== undefined) {
      const onMessage = (message: string) => print({ event: 'heard', message })
      await database.listen(listen, onMessage, () => print({ event: 'gap' }))
    }
    if (asks === 'isSpaceLow') return print({ id, rows: [{ isSpaceLow: database.isSpaceLow() }] })
    const { rows } = await sql.raw<Record<string, unknown>>(statement ?? 'select 1').execute(database.db)
    print({ id, rows })
  } catch (error) {
    const { message } = error as Error
    print({ id, error: { message, isUnavailable: isUnavailable(error), isDiskFull: isDiskFull(error) } })
  }
}

function print(line: ProcessAnswer | ProcessEvent): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

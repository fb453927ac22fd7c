/** `arcade audit …`: verifies the audit trail, erases a person from it, and drops old entries. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { actOfProcess } from '#src/audit/audit.ts'
import { dropEntries } from '#src/audit/drop.ts'
import { erasePerson } from '#src/audit/erase.ts'
import { type AuditHead, verifyAudit } from '#src/audit/verify.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import { StartError } from '#src/postgres/errors.ts'

/** The exit code of a verification that found something wrong. */
const NOT_WHOLE = 3

/** Parses a head as `arcade audit verify` prints it, `number:hash`. Returns undefined for any other text. */
export function readHead(text: string): AuditHead | undefined {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash }
}

/** @param kept an earlier head, which the chain must still contain */
export function verifyTrail(kept: AuditHead | undefined): (database: Database) => Promise<number> {
  return async (database) => {
    const onProgress = (entries: number): void => void process.stderr.write(`${entries} entries …\n`)
    const { entries, erased, findings, head, unsealed } = await verifyAudit(database, { kept, onProgress })
    for (const finding of findings) process.stdout.write(`${finding}\n`)
    const parts = erased === 0 ? '' : `, ${erased} of them without the personal data that were erased`
    if (findings.length > 0) process.stdout.write(`The audit trail is NOT whole: ${entries} entries were read${parts}.\n`)
    else process.stdout.write(`The audit trail is whole: ${entries} entries${parts}.\n`)
    if (unsealed)
      process.stdout.write(`${unsealed.entries} further entries are not sealed and could not be sealed now: ${unsealed.reason}\n`)
    process.stdout.write(`Keep its head elsewhere, and give it to a later run with --head: ${head.seq}:${head.hash}\n`)
    return findings.length > 0 ? NOT_WHOLE : 0
  }
}

/** @param day the first day whose entries stay, such as `2026-01-31`, from midnight UTC */
export function dropBefore(day: string): (database: Database) => Promise<number> {
  return async (database) => {
    const first = new Date(`${day}T00:00:00Z`)
    if (first > (await databaseNow(database.db))) throw new StartError(`${day} is in the future: everything would go.`)
    const act = actOfProcess('command', 'arcade audit drop')
    const dropped = await database.transaction((tx) => dropEntries(tx, act, first))
    process.stdout.write(`${dropped} entries of before ${day} are gone.\n`)
    return 0
  }
}

/** Whether a text is a calendar day, such as `2026-01-31`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
}

/** Erases a former user from the audit trail, by the id in its entries. */
export function eraseUser(given: string): (database: Database) => Promise<number> {
  return async (database) => {
    const erased = await database.transaction(async (tx) => {
      const { rows } = await sql<{ email: string }>`
        select email from users where id = ${given} or lower(email) = lower(${given})`.execute(tx)
      if (rows[0]) throw new StartError(`${rows[0].email} is a user: remove them first.`)
      const { rows: trashed } = await sql`select from trash where kind = 'user' and record_id = ${given}`.execute(tx)
      if (trashed.length > 0) throw new StartError('This user is in the trash and could come back: purge them there first.')
      const anonymousId = `erased-${randomUUID()}`
      const entries = await erasePerson(tx, actOfProcess('command', 'arcade audit erase'), {
        kind: 'user',
        id: given,
        anonymousId,
      })
      if (entries === 0) throw new StartError('The audit trail names nobody with this id.')
      return entries
    })
    process.stdout.write(`${erased} entries do not tell any more who that was.\n`)
    return 0
  }
}

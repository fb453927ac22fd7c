/** `arcade audit …`: verifies the audit trail, erases a person from it, and drops old entries. */
import { sql } from 'kysely'
import { actOfProcess } from '#src/audit/audit.ts'
import { dropEntries } from '#src/audit/drop.ts'
import { type AuditHead, verifyAudit } from '#src/audit/verify.ts'
import { lower } from '#src/db/collations.ts'
import { databaseNow } from '#src/db/moments.ts'
import { eraseUser } from '#src/erasure/erase-user.ts'
import { StartError } from '#src/postgres/errors.ts'
import { UsageError } from './command-line.ts'
import type { RunOnDatabase } from './on-database.ts'

/** The exit code of a verification that found something wrong. */
const NOT_WHOLE = 3

/**
 * @param given an earlier head, which the chain must still contain, as `audit verify` prints it: `number:hash`
 * @throws UsageError if the text is not a head
 */
export function verifyTrail(given: string | undefined): RunOnDatabase {
  const kept = given === undefined ? undefined : readHead(given)
  return async ({ database, print, note }) => {
    const onProgress = (entries: number): void => note(`${entries} entries …`)
    const { entries, erased, findings, head, unsealed } = await verifyAudit(database, { kept, onProgress })
    for (const finding of findings) print(finding)
    const parts = erased === 0 ? '' : `, ${erased} of them without the personal data that were erased`
    if (findings.length > 0) print(`The audit trail is NOT whole: ${entries} entries were read${parts}.`)
    else print(`The audit trail is whole: ${entries} entries${parts}.`)
    if (unsealed) print(`${unsealed.entries} further entries are not sealed and could not be sealed now: ${unsealed.reason}`)
    print(`Keep its head elsewhere, and give it to a later run with --head: ${head.seq}:${head.hash}`)
    return findings.length > 0 ? NOT_WHOLE : 0
  }
}

function readHead(text: string): AuditHead {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined || hash === undefined)
    throw new UsageError(`${text} is no head, which \`audit verify\` prints as NUMBER:HASH at its end.`)
  return { seq: Number(seq), hash }
}

/**
 * @param day the first day whose entries stay, such as `2026-01-31`, from midnight UTC
 * @throws UsageError if the text is not a calendar day
 */
export function dropBefore(day: string): RunOnDatabase {
  if (!isDay(day)) throw new UsageError(`${day} is no day such as 2026-01-31.`)
  return async ({ database, print }) => {
    const first = new Date(`${day}T00:00:00Z`)
    if (first > (await databaseNow(database.db))) throw new StartError(`${day} is in the future: all entries would be deleted.`)
    const act = actOfProcess('command', 'arcade audit drop')
    const dropped = await database.transaction((tx) => dropEntries(tx, act, first))
    print(`${dropped} entries of before ${day} are gone.`)
  }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
}

/** Erases a former user by the id that audit entries show. */
export function eraseFormerUser(given: string): RunOnDatabase {
  return async ({ database, print }) => {
    const changedRows = await database.transaction(async (tx) => {
      const { rows } = await sql<{ email: string }>`
        select email from users where id = ${given} or ${lower(sql.ref('email'))} = ${lower(sql`${given}::text`)}`.execute(tx)
      if (rows[0]) throw new StartError(`${rows[0].email} is a user: remove them first.`)
      const { rows: trashed } = await sql`select from trash where kind = 'user' and record_id = ${given}`.execute(tx)
      if (trashed.length > 0) throw new StartError('This user is in the trash and could come back: purge them there first.')
      const erased = await eraseUser(tx, actOfProcess('command', 'arcade audit erase'), given)
      if (erased === 0) throw new StartError('Nothing names a user with this id.')
      return erased
    })
    print(`${changedRows} rows were changed or deleted.`)
    print('Looked for were the id, and the names and e-mail addresses that the audit had of it. docs/erasing.md says what stays.')
  }
}

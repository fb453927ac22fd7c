/**
 * Erases a former user of the console on request: the identity goes from the audit, the trash, the ledger and everywhere else. What the
 * person did stays under an anonymous id.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Act } from '#src/audit/audit.ts'
import { erasePerson } from '#src/audit/erase.ts'
import { lower } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import { searchTerm } from '#src/lists/search.ts'
import { isElsewhere } from './elsewhere.ts'
import { eraseMentions } from './mentions.ts'

/**
 * Erases a user who is neither among the users nor in the trash any more.
 * @returns the number of rows that were changed or deleted
 */
export async function eraseUser(tx: Transaction<Tables>, act: Act, id: string): Promise<number> {
  const anonymousId = `erased-${randomUUID()}`
  const { texts, emails } = await findTexts(tx, id)
  await eraseMentions(tx, act, {
    kind: 'user',
    id,
    anonymousId,
    texts: [...texts, ...emails],
    identifiers: [id, ...emails],
    lists: ['users', 'audit', 'trash'],
    findsOthers: (search) => isFoundUser(tx, search),
    findsElsewhere: (word) => isElsewhere(tx, { word, people: 'telegram_users' }),
  })
  const changedRows = (await eraseNameInNotes(tx, id)) + (await eraseId(tx, { id, anonymousId, emails }))
  return changedRows + (await erasePerson(tx, act, { kind: 'user', id, anonymousId }))
}

/** Returns the names and e-mail addresses that the user had, which only the audit still tells. */
async function findTexts(tx: Transaction<Tables>, id: string): Promise<{ texts: string[]; emails: string[] }> {
  const { rows } = await sql<{ text: string }>`
    select distinct text from (
      select actor_name as text from audit_trail where actor_kind = 'user' and actor_id = ${id}
      union all
      select record_name from audit_trail where record_kind = 'user' and record_id = ${id}
      union all
      select value #>> '{}' from audit_trail, json_each(changes) as field (name, pair), json_array_elements(pair) as value
       where record_kind = 'user' and record_id = ${id} and name in ('fname', 'lname', 'email')
    ) as told where text <> ''`.execute(tx)
  const all = rows.map(({ text }) => text)
  return { texts: all.filter((text) => !text.includes('@')), emails: all.filter((text) => text.includes('@')) }
}

async function isFoundUser(tx: Transaction<Tables>, search: string): Promise<boolean> {
  const { rows } = await sql`select id from users where ${searchTerm(search)?.indexed ?? sql`false`} limit 1`.execute(tx)
  return rows.length > 0
}

/** Takes the name out of the notes that mention the user. A longer name that begins with it stays, such as @Ann Leeson for @Ann Lee. */
async function eraseNameInNotes(tx: Transaction<Tables>, id: string): Promise<number> {
  const { rows: notes } = await sql<{ id: string; text: string; name: string; others: string[] }>`
    select notes.id, text, own.name, array(select name from note_mentions where note_id = notes.id and user_id <> ${id}) as others
      from notes join note_mentions own on own.note_id = notes.id and own.user_id = ${id}`.execute(tx)
  for (const { id: noteId, text, name, others } of notes) {
    const names = [name, ...others].toSorted((one, other) => other.length - one.length).map(escaped)
    const mentions = new RegExp(`@(?:${names.join('|')})(?![\\p{L}\\p{N}\\p{M}\\u200d])`, 'gu')
    const anonymous = text.replaceAll(mentions, (mention) => (mention === `@${name}` ? '@former user' : mention))
    await tx.updateTable('notes').set({ text: anonymous }).where('id', '=', noteId).execute()
  }
  return notes.length
}

/** Returns a regular expression that matches the text as it is. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}

/** Puts the anonymous id in place of the id wherever a row says who did something, and deletes what was only the user's own. */
async function eraseId(
  tx: Transaction<Tables>,
  { id, anonymousId, emails }: { id: string; anonymousId: string; emails: readonly string[] },
): Promise<number> {
  const changes = [
    sql`update ledger_entries set by_id = ${anonymousId} where by_kind = 'user' and by_id = ${id}`,
    sql`update balances set blocked_by = ${anonymousId} where blocked_at is not null and blocked_by = ${id}`,
    sql`update broadcasts set made_by = ${anonymousId} where made_by = ${id}`,
    sql`update trash set deleted_by_id = ${anonymousId}, deleted_by = null where deleted_by_id = ${id}`,
    sql`update notes set author_id = ${anonymousId} where author_id = ${id}`,
    sql`delete from note_mentions where user_id = ${id}`,
    sql`delete from invitations where ${lower(sql.ref('email'))} = any(${emails.map((email) => email.toLowerCase())}::text[])`,
    sql`delete from password_requests where user_id = ${id}`,
    sql`delete from idempotency_keys where caller = ${`user:${id}`}`,
    sql`update idempotency_keys set answer = replace(answer, ${`"id":${JSON.stringify(id)}`}, ${`"id":"${anonymousId}"`})
         where position(${`"id":${JSON.stringify(id)}`} in answer) > 0`,
    // An account can exist without its row of users. Its sessions and known addresses go with it.
    sql`delete from accounts where id = ${id}`,
  ]
  let changedRows = 0
  for (const change of changes) changedRows += Number((await change.execute(tx)).numAffectedRows ?? 0n)
  return changedRows
}

/**
 * What the hashes of the audit trail are made of, as SQL, so that writing, sealing and verifying cannot differ. An entry names people and
 * what was changed in two commitments: salted hashes, which stay when the salt and the values are erased. The chain hashes these and the
 * rest. What is written here never changes, because entries of years ago are verified by it.
 */
import { microsecondsSql } from './moments.ts'

/** The commitment to who acted, and from where. @param entry the name of a row that has these columns and `actor_salt` */
export function actorCommitmentSql(entry: string): string {
  return commitmentSql(entry, ['actor_salt', 'actor_id', 'actor_name', 'address', 'origin', 'device'])
}

/** The commitment to what the act was about, and what it changed. @param entry the name of a row that has these columns and `record_salt` */
export function recordCommitmentSql(entry: string): string {
  return commitmentSql(entry, ['record_salt', 'record_id', 'record_name', 'changes', 'detail'])
}

/** PostgreSQL writes a row so that no two rows of texts give the same text; a column of the type `json` keeps its text as it is. */
function commitmentSql(entry: string, columns: string[]): string {
  return `sha256(convert_to(row(${columns.map((column) => `${entry}.${column}`).join(', ')})::text, 'UTF8'))`
}

/**
 * What the chain hashes of an entry, after the hash of the entry before it, as text.
 * @param seq SQL for the entry's number
 */
export function chainedTextSql(entry: string, seq: string): string {
  const columns = ['id', 'act_id', 'action', 'actor_kind', 'record_kind', 'actor_commitment', 'record_commitment']
  const parts = [seq, microsecondsSql(`${entry}.at`), ...columns.map((column) => hexIfBytes(entry, column))]
  return `row(${parts.join(', ')})::text`
}

/** How bytes are written depends on a setting, their hexadecimal text does not. */
function hexIfBytes(entry: string, column: string): string {
  return column.endsWith('_commitment') ? `encode(${entry}.${column}, 'hex')` : `${entry}.${column}`
}

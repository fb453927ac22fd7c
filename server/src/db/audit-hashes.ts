/**
 * The SQL of the audit trail's hashes, shared by writing, sealing and verifying. An entry has two commitments, to the people and to the
 * changes: salted hashes, which stay when the salt and the values are erased. The chain hashes the commitments and the other fields. This SQL
 * must never change, because it verifies entries that were written years ago.
 */
import { microsecondsSql } from './moments.ts'

/** The commitment to the actor and the address. @param entry the name of a row that has these columns and `actor_salt` */
export function actorCommitmentSql(entry: string): string {
  return commitmentSql(entry, ['actor_salt', 'actor_id', 'actor_name', 'address', 'origin', 'device'])
}

/** The commitment to the record and its changes. @param entry the name of a row that has these columns and `record_salt` */
export function recordCommitmentSql(entry: string): string {
  return commitmentSql(entry, ['record_salt', 'record_id', 'record_name', 'changes', 'detail'])
}

/** PostgreSQL's text of a row is different for any two rows of texts; a column of type `json` keeps its text as it is. */
function commitmentSql(entry: string, columns: string[]): string {
  return `sha256(convert_to(row(${columns.map((column) => `${entry}.${column}`).join(', ')})::text, 'UTF8'))`
}

/**
 * The text of an entry that the chain hashes after the hash of the previous entry.
 * @param seq SQL for the entry's number
 */
export function chainedTextSql(entry: string, seq: string): string {
  const columns = ['id', 'act_id', 'action', 'actor_kind', 'record_kind', 'actor_commitment', 'record_commitment']
  const parts = [seq, microsecondsSql(`${entry}.at`), ...columns.map((column) => hexIfBytes(entry, column))]
  return `row(${parts.join(', ')})::text`
}

/** Bytes as hexadecimal text, which, unlike their default text, does not depend on a setting. */
function hexIfBytes(entry: string, column: string): string {
  return column.endsWith('_commitment') ? `encode(${entry}.${column}, 'hex')` : `${entry}.${column}`
}

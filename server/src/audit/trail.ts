/** The entries of the audit trail as SQL, in both of their tables. */

/** The columns that an open entry and a sealed one have in common. */
export const ENTRY_COLUMNS =
  'id, at, act_id, action, actor_kind, actor_id, actor_name, address, origin, device, ' +
  'actor_salt, actor_commitment, record_kind, record_id, record_name, changes, detail, record_salt, record_commitment'

/** All entries, sealed or not; `seq` is null for one that is not. */
export const trailSql = `(select null::bigint as seq, ${ENTRY_COLUMNS} from audit_open union all select seq, ${ENTRY_COLUMNS} from audit_entries)`

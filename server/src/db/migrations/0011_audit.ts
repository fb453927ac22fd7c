/**
 * The audit trail as a chain. An act writes its entry to `audit_open`; the sealer moves it to `audit_entries` under the next number, with a
 * hash over all entries before it. Entries of earlier versions become open entries, with the names that actions have now. Their table
 * stays, because a server of an earlier version that still runs writes to it.
 */
import { type Kysely, sql } from 'kysely'
import { actorCommitmentSql, recordCommitmentSql } from '#src/db/audit-hashes.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const entry = `
     id uuid not null,
     at timestamptz not null default clock_timestamp(),
     act_id uuid not null,
     action text not null,
     actor_kind text not null,
     actor_id text,
     actor_name text,
     address text,
     origin text,
     device text,
     actor_salt uuid,
     actor_commitment bytea not null,
     record_kind text,
     record_id text,
     record_name text,
     changes json,
     detail json,
     record_salt uuid,
     record_commitment bytea not null`

const earlierActions = {
  'task.remove-many': 'task.remove',
  'task.prioritise': 'task.priority',
  'task.reorder': 'task.priority',
  'announcement.remove-many': 'announcement.remove',
  'announcement.activate-many': 'announcement.activate',
  'announcement.deactivate-many': 'announcement.deactivate',
  'user.remove-many': 'user.remove',
  'account.password': 'user.password',
  'sign-in.limited': 'session.limit',
  download: 'export',
}
const action = `case action ${Object.entries(earlierActions)
  .map(([earlier, present]) => `when '${earlier}' then '${present}'`)
  .join(' ')} else action end`

const statements = [
  // Entries leave this table all the time, so it is vacuumed after some thousand of them instead of after a share of the table.
  `create table audit_open (${entry},
     constraint audit_open_pkey primary key (at, id))
     with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
  `create table audit_entries (${entry},
     seq bigint not null,
     hash bytea not null,
     constraint audit_entries_seq_key primary key (seq))`,
  `create index audit_entries_order on audit_entries (at desc, seq)`,
  `create index audit_entries_actor on audit_entries (actor_id, seq)`,
  `create index audit_entries_action on audit_entries (action, seq)`,
  `create index audit_entries_record on audit_entries (record_id, seq)`,
  `create index audit_entries_record_kind on audit_entries (record_kind, seq)`,
  `create index audit_entries_act on audit_entries (act_id)`,
  `create index audit_entries_actor_name on audit_entries (lower(actor_name) text_pattern_ops)`,
  `create index audit_entries_record_name on audit_entries (lower(record_name) text_pattern_ops)`,
  // The only row: the number and hash of the last sealed entry, and of the last one that was dropped because of its age.
  `create table audit_head (
     id smallint constraint audit_head_pkey primary key default 1 constraint audit_head_id_check check (id = 1),
     seq bigint not null,
     hash bytea not null,
     base_seq bigint not null default 0,
     base_hash bytea not null)`,
  `insert into audit_head (seq, hash, base_hash) values (0, sha256(''), sha256(''))`,
  `insert into audit_open
     select id, at, act_id, action, actor_kind, actor_id, actor_name, address, origin, device, actor_salt,
            ${actorCommitmentSql('earlier')}, record_kind, record_id, record_name, changes, detail, record_salt, ${recordCommitmentSql('earlier')}
       from (
         select gen_random_uuid() as id, at, coalesce(request_id::uuid, gen_random_uuid()) as act_id, ${action} as action,
                case when actor_id is null then 'guest' when actor_id like 'bot:%' then 'bot' else 'user' end as actor_kind,
                substring(actor_id from '^(?:bot:)?(.*)$') as actor_id,
                (select fname || ' ' || lname from users where users.id = actor_id) as actor_name,
                address, origin, null::text as device, gen_random_uuid() as actor_salt,
                null::text as record_kind, target as record_id, null::text as record_name, null::json as changes,
                case when detail = '{}' then null else detail::json end as detail, gen_random_uuid() as record_salt
           from audit_log) as earlier`,
]

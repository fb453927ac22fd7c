/**
 * What goes to the trash with a person's account and comes back when it is restored: the second factor, and the points adjusted on that
 * day. Otherwise, somebody could get rid of them by removing and restoring the person. Also the linked account of the sign-in service.
 */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'

interface KeptTable {
  name: keyof Tables
  columns: readonly string[]
  /** SQL for the rows that are kept; without it all of the person's. */
  only?: string
  /** Whether a restore skips a row whose unique value somebody else has by now. Otherwise the restore is refused. */
  mayBeTaken?: boolean
}

/** The key of each table in the content of the trash, with the columns that a restore needs. */
const kept: Readonly<Record<string, KeptTable>> = {
  totp: table('totp_secrets', ['user_id', 'secret', 'confirmed_at', 'last_step'], 'confirmed_at is not null'),
  passkeys: table('passkeys', [
    'id',
    'user_id',
    'credential_id',
    'public_key',
    'counter',
    'transports',
    'name',
    'device_type',
    'backed_up',
    'created_at',
    'last_used_at',
  ]),
  recoveryCodes: table('recovery_codes', ['user_id', 'code_hash']),
  adjusted: table('adjusted_points', ['user_id', 'day', 'points']),
  oidcLinks: {
    ...table('oidc_links', ['user_id', 'issuer', 'subject', 'name', 'linked_at', 'last_used_at']),
    mayBeTaken: true,
  },
}

function table<Name extends keyof Tables>(
  name: Name,
  columns: readonly (keyof Tables[Name] & string)[],
  only?: string,
): KeptTable {
  return { name, columns, ...(only !== undefined && { only }) }
}

/** SQL for the keys and values of a JSON object with the rows of a removed user, whose row is `gone`. */
export const keptRows: RawBuilder<unknown> = sql.join(
  Object.entries(kept).map(
    ([key, { name, only = 'true' }]) => sql`
      ${sql.lit(key)}, (select coalesce(jsonb_agg(to_jsonb(own)), '[]') from ${sql.table(name)} as own
                         where user_id = gone.id and ${sql.raw(only)})`,
  ),
)

/** Restores these rows. @param ids of the records in the trash */
export async function restoreKeptRows(tx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  for (const [key, { name, columns, mayBeTaken = false }] of Object.entries(kept)) {
    const list = sql.join(columns.map((column) => sql.ref(column)))
    await sql`
      insert into ${sql.table(name)} (${list})
      select own.* from trash,
             lateral (select ${list} from jsonb_populate_recordset(null::${sql.table(name)}, content -> ${sql.lit(key)})) as own
       where trash.id = any(${ids}) ${mayBeTaken ? sql`on conflict do nothing` : sql``}`.execute(tx)
  }
}

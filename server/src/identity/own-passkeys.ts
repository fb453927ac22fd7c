/** The rows of passkeys: a person's own, which are added, listed, renamed and removed. */
import type { Kysely, Transaction } from 'kysely'
import type { Passkey, PasskeyCreationOptions } from '@arcade/contract/passkeys/calls'
import { MAX_PASSKEYS } from '@arcade/contract/passkeys/fields'
import type { CredentialDeviceType } from '@simplewebauthn/server'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'

/** A passkey that a browser has made, checked. */
export interface MadePasskey {
  credentialId: Buffer
  publicKey: Buffer
  counter: number
  transports: string[]
  deviceType: CredentialDeviceType
  isBackedUp: boolean
}

/**
 * Adds a checked passkey.
 * @param userId whose account the caller has locked (`Sessions.renewAlone`), so that two requests cannot exceed the limit together
 * @throws Failure TOO_MANY_PASSKEYS, or PASSKEY_KNOWN by the constraint
 */
export async function addPasskey(
  tx: Transaction<Tables>,
  userId: string,
  { name, made }: { name: string; made: MadePasskey },
): Promise<Passkey> {
  const { count } = await tx
    .selectFrom('passkeys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_PASSKEYS) throw new Failure('TOO_MANY_PASSKEYS')
  const row = await tx
    .insertInto('passkeys')
    .values({
      user_id: userId,
      credential_id: made.credentialId,
      public_key: made.publicKey,
      counter: made.counter,
      transports: made.transports,
      name,
      device_type: made.deviceType,
      backed_up: made.isBackedUp,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow()
  return shownPasskey(row)
}

/** Renames a passkey of a user. @returns its name until now @throws Failure NO_SUCH_PASSKEY */
export async function renamePasskey(
  tx: Transaction<Tables>,
  userId: string,
  { id, name }: { id: string; name: string },
): Promise<string> {
  const row = await tx
    .selectFrom('passkeys')
    .select('name')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw new Failure('NO_SUCH_PASSKEY')
  await tx.updateTable('passkeys').set({ name }).where('id', '=', id).execute()
  return row.name
}

/** Ends a passkey of a user. @returns its name @throws Failure NO_SUCH_PASSKEY */
export async function removePasskey(tx: Transaction<Tables>, userId: string, id: string): Promise<string> {
  const row = await tx
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning('name')
    .executeTakeFirst()
  if (!row) throw new Failure('NO_SUCH_PASSKEY')
  return row.name
}

/** Ends all passkeys of a user. @returns how many there were */
export async function endPasskeysOf(tx: Kysely<Tables>, userId: string): Promise<number> {
  await tx.deleteFrom('passkey_challenges').where('user_id', '=', userId).execute()
  const { numDeletedRows } = await tx.deleteFrom('passkeys').where('user_id', '=', userId).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Returns whether a passkey still exists. */
export async function isPasskey(tx: Kysely<Tables>, id: string): Promise<boolean> {
  return (await tx.selectFrom('passkeys').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
}

const shownColumns = ['id', 'name', 'created_at', 'last_used_at', 'device_type'] as const

/** Returns the passkeys of a user, the newest first. */
export async function passkeysOf(db: Kysely<Tables>, userId: string): Promise<Passkey[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select(shownColumns)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map(shownPasskey)
}

function shownPasskey(row: {
  id: string
  name: string
  created_at: Date
  last_used_at: Date | null
  device_type: CredentialDeviceType
}): Passkey {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    isSynced: row.device_type === 'multiDevice',
  }
}

/** Returns the passkeys of a user as a browser knows them. */
export async function credentialsOf(db: Kysely<Tables>, userId: string): Promise<PasskeyCreationOptions['excludeCredentials']> {
  const rows = await db.selectFrom('passkeys').select(['credential_id', 'transports']).where('user_id', '=', userId).execute()
  return rows.map((row) => ({
    id: row.credential_id.toString('base64url'),
    type: 'public-key',
    transports: row.transports,
  }))
}

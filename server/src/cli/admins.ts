/** `arcade admin …` and `arcade setup-link`: the first admin, one more, or one who has lost the second factor (design §8). */
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { emailField, newPasswordField } from '@arcade/contract/field-schemas'
import { sql } from 'kysely'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import type { Config } from '#src/config.ts'
import { lower } from '#src/db/collations.ts'
import { ensureAdmin, userRecord } from '#src/identity/accounts.ts'
import { removeSecondFactor } from '#src/identity/second-factor.ts'
import { createSessions } from '#src/identity/sessions.ts'
import { createSetupLink } from '#src/identity/setup-links.ts'
import { UsageError } from './command-line.ts'
import type { RunOnDatabase } from './on-database.ts'

export function createAdmin(given: string): RunOnDatabase {
  const email = emailField.safeParse(given)
  if (!email.success) throw new UsageError(`${given}: ${email.error.issues[0]?.message}`)
  return async ({ database, config: { passwordPolicy: policy }, print }) => {
    const password = newPasswordField.safeParse(await readPassword())
    if (!password.success) throw new UsageError(password.error.issues[0]?.message)
    const sessions = await createSessions(database)
    const outcome = await ensureAdmin(database, sessions, {
      act: actOfProcess('command', 'arcade admin create'),
      email: email.data,
      password: password.data,
      policy,
      unlessAdminExists: false,
    })
    print(outcome === 'created' ? `${email.data} is now an admin.` : `${email.data} is an admin, with the new password.`)
  }
}

/** Removes the second factor of the person with this address: the way in when the last owner has lost it. */
export function resetSecondFactor(given: string): RunOnDatabase {
  const email = emailField.safeParse(given)
  if (!email.success) throw new UsageError(`${given}: ${email.error.issues[0]?.message}`)
  return async ({ database, print }) => {
    const sessions = await createSessions(database)
    await database.transaction(async (tx) => {
      const isTheirs = sql<boolean>`${lower(sql.ref('email'))} = ${email.data.toLowerCase()}`
      const user = await tx.selectFrom('users').select(['id', 'fname', 'lname']).where(isTheirs).forShare().executeTakeFirst()
      if (!user) throw new UsageError(`There is nobody with the address ${email.data}.`)
      const methods = await removeSecondFactor(tx, user.id).catch((error: unknown) => {
        throw error instanceof Failure ? new UsageError(`${email.data} has no second factor.`) : error
      })
      await sessions.endAllOf(tx, user.id)
      const act = actOfProcess('command', 'arcade admin reset-second-factor')
      await audit(tx, act, 'user.second-factor-end', { record: userRecord(user), detail: { methods } })
    })
    print(`${email.data} signs in with the password alone now, and should set up a new second factor.`)
  }
}

/** Reads a password, from standard input by default. @throws UsageError if it is not UTF-8: no form could send the same password */
export async function readPassword(input: Readable & { isTTY?: boolean } = process.stdin): Promise<string> {
  if (input.isTTY) process.stderr.write('Password (then Enter and Ctrl-D): ')
  const bytes = await buffer(input)
  if (!isUtf8(bytes)) throw new UsageError('The password is not UTF-8.')
  return bytes.toString().replace(/\r?\n$/, '')
}

export const printSetupLink: RunOnDatabase = async ({ database, config, print, note }) => {
  const path = await createSetupLink(database, actOfProcess('command', 'arcade setup-link'))
  if (path === undefined)
    throw new UsageError('There is an admin already. To make another one: npm run arcade -- admin create EMAIL')
  note('The link works once, for 30 minutes. Earlier links no longer work.')
  print(`${consoleOrigin(config)}${path}`)
}

/** Returns the URL under which browsers reach the console: PUBLIC_URL, or the server's for a browser on this machine. A server on all addresses is reachable at the loopback address. */
export function consoleOrigin({ publicOrigin, host, port }: Config): string {
  if (publicOrigin !== undefined) return publicOrigin
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

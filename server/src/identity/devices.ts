/**
 * The cookie of a device on which a person has signed in (OWASP, Device cookies): the user's id, an id of the device and the time, signed
 * with a key that all servers of a console share. It does not prove an identity, only that the person has signed in there before.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import { databaseClock } from '#src/db/moments.ts'

export const MAX_DEVICE_SECONDS = 180 * 24 * 60 * 60

export interface Devices {
  /** Returns the cookie's value for a device on which the user has just signed in. */
  sign(userId: string): string
  /** Returns the device's id, if this user has signed in on it. */
  idOf(cookie: string | undefined, userId: string): string | undefined
  /** Whether any user has signed in on the device. */
  isKnown(cookie: string | undefined): boolean
}

export async function createDevices({ db }: Pick<Database, 'db'>): Promise<Devices> {
  await sql`insert into secrets (name, value) values ('devices', ${randomBytes(32)}) on conflict do nothing`.execute(db)
  const { value: key } = await db.selectFrom('secrets').select('value').where('name', '=', 'devices').executeTakeFirstOrThrow()
  const clock = await databaseClock(db)
  const nowSeconds = (): number => Math.floor(clock().getTime() / 1000)
  const computeSignature = (text: string): Buffer => createHmac('sha256', key).update(text).digest()

  const read = (cookie: string | undefined): { userId: string; id: string } | undefined => {
    const [user = '', id = '', since = '', signature = ''] = cookie?.split('.') ?? []
    const actual = Buffer.from(signature, 'base64url')
    const expected = computeSignature(`${user}.${id}.${since}`)
    if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined
    if (Number(since) + MAX_DEVICE_SECONDS < nowSeconds()) return undefined
    return { userId: Buffer.from(user, 'base64url').toString(), id }
  }

  return {
    sign(userId) {
      const id = randomBytes(16).toString('base64url')
      const text = `${Buffer.from(userId).toString('base64url')}.${id}.${nowSeconds()}`
      return `${text}.${computeSignature(text).toString('base64url')}`
    },
    idOf(cookie, userId) {
      const device = read(cookie)
      return device?.userId === userId ? device.id : undefined
    },
    isKnown: (cookie) => cookie !== undefined && read(cookie) !== undefined,
  }
}

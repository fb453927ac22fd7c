/**
 * The cookie of a device on which somebody has signed in (OWASP, Device cookies): the user's id, a number for the device and when that
 * was, signed with a key that all servers of an installation share. It proves no identity, but that its owner is no stranger.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import { databaseClock } from '#src/db/moments.ts'

export const DEVICE_MAX_SECONDS = 180 * 24 * 60 * 60

export interface Devices {
  /** The cookie's value for a device on which the user has just signed in. */
  sign(userId: string): string
  /** The device's id, if this user has signed in on it. */
  idOf(cookie: string | undefined, userId: string): string | undefined
  /** Whether anybody has signed in on it. */
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
    if (Number(since) + DEVICE_MAX_SECONDS < nowSeconds()) return undefined
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

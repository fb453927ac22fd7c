/** The cookie of a device on which somebody has signed in (OWASP, Device cookies). */
import { expect, test } from 'vitest'
import { takeClocks } from '#test/clock.ts'
import { testDatabase } from '#test/test-database.ts'
import { createDevices, MAX_DEVICE_SECONDS } from './devices.ts'

const DAY_MS = 24 * 60 * 60 * 1000

test.each([5, -5])(
  'security: sessions: a device is known for as long as the database’s clock says; clock %i days ahead',
  async (days) => {
    const database = await testDatabase()
    const clocks = takeClocks()
    const secondsOf = (cookie: string) => Number(cookie.split('.')[2])
    const right = (await createDevices(database)).sign('ada')

    clocks.jump(days * DAY_MS)
    const devices = await createDevices(database)
    const cookie = devices.sign('ada')
    expect(Math.abs(secondsOf(cookie) - secondsOf(right)), 'seconds apart').toBeLessThan(3600)
    clocks.jump(2 * MAX_DEVICE_SECONDS * 1000)
    expect(devices.idOf(cookie, 'ada')).toBeDefined()
    clocks.pass((MAX_DEVICE_SECONDS - 3600) * 1000)
    expect(devices.isKnown(cookie)).toBe(true)
    clocks.pass(7200 * 1000)
    expect(devices.isKnown(cookie), 'after its time').toBe(false)
  },
)

/** The dashboard's panels, and activity to show in them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Locator, Page } from '@playwright/test'
import { addActivity } from '../../server/test/activity.ts'
import { type ConsoleServer, test } from './test.ts'

/** Returns a panel, or a figure of the strip. */
export function card(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true })
}

const HOUR_MS = 3_600_000
/** Far more milliseconds than a test of the dashboard takes. */
const TEST_MS = 180_000

/** Waits for the next hour if the current one is about to end. A test calls it if its numbers are wrong when the hour turns meanwhile. */
export async function beginWithinHour(): Promise<void> {
  const leftMs = HOUR_MS - (Date.now() % HOUR_MS)
  if (leftMs > TEST_MS) return
  test.setTimeout(test.info().timeout + leftMs)
  await pause(leftMs)
}

/** Counts players who join `hoursAgo` and take part in the sample's daily task `Spin the wheel`. */
export async function addPlayers({ database }: ConsoleServer, players: number, hoursAgo = 0): Promise<void> {
  await addActivity(database, players, {
    kind: 'daily',
    itemId: await idOfWheel(database),
    at: new Date(Date.now() - hoursAgo * HOUR_MS),
  })
}

export async function idOfWheel({ db }: ConsoleServer['database']): Promise<string> {
  return (await db.selectFrom('tasks').select('id').where('title', '=', 'Spin the wheel').executeTakeFirstOrThrow()).id
}

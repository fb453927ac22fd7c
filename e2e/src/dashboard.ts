/** The dashboard's panels, and activity to show in them. */
import type { Locator, Page } from '@playwright/test'
import { addActivity } from '../../server/test/activity.ts'
import type { ConsoleServer } from './test.ts'

/** Returns a panel, or a figure of the strip. */
export function card(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true })
}

const HOUR_MS = 3_600_000

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

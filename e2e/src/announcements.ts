/** Helpers for tests of announcements: stored announcements, images to upload, the form, and the rows of the list. */
import type { Locator, Page } from '@playwright/test'
import { type ConsoleServer, expect, field } from './test.ts'

/** 300 × 200 and 64 × 64 pixels of one colour. */
export const banner = {
  name: 'banner.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAASwAAADICAMAAABlASxnAAAAA1BMVEUv7b8kZR+7AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAUUlEQVR42u3BMQEAAADCoPVPbQo/oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB4GOsoAAHf1Nx9AAAAAElFTkSuQmCC',
    'base64',
  ),
}
export const badge = {
  name: 'badge.webp',
  mimeType: 'image/webp',
  buffer: Buffer.from(
    'UklGRkwAAABXRUJQVlA4IEAAAACQAwCdASpAAEAAPm02mEkkIyKhIggAgA2JaQAAEDdTUAV4hbkAAP7vZJfq0mjyn//3IB//cgH/9yAfv3AAAAAA',
    'base64',
  ),
}

export const season = {
  id: 'season',
  type: 'desc' as const,
  title: 'Season 2',
  subtitle: 'Fresh levels',
  description: 'Everything new',
  reward: 250.5,
  status: false,
}
export const retweet = {
  id: 'retweet',
  type: 'link' as const,
  title: 'Retweet',
  subtitle: 'And earn',
  link: 'https://x.com/arcade/1',
  link_type: 'input' as const,
  input_text: 'Your post',
  reward: 5,
  status: true,
}

/** Values for the form of a new announcement, by label. */
export const newDesc = { Type: 'desc', Title: 'Season 3', Subtitle: 'Soon', Description: 'Line one\nline two', Reward: '12.5' }
export const newLink = { Type: 'link', Title: 'Join us', Subtitle: 'Now', Link: 'https://t.me/arcade', Reward: '7' }

/** Fills in the form by its labels. The two selects take the stored values of their options. */
export async function fillIn(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    if (['Type', 'Link Type'].includes(label)) await field(page, label).selectOption(value)
    else await field(page, label).fill(value)
  }
}

export function submitButton(page: Page, name: 'Add Annoucement' | 'Update'): Locator {
  return page.getByRole('form').getByRole('button', { name, exact: true })
}

/** Stores announcements. The list shows them in this order. */
export async function add(
  server: ConsoleServer,
  ...rows: ((typeof season | typeof retweet) & { news?: number })[]
): Promise<void> {
  const dated = rows.map((one, index) => ({ ...one, created_at: new Date(Date.UTC(2026, 0, 1) + index) }))
  await server.database.db.insertInto('announcements').values(dated).execute()
}

export function stored(server: ConsoleServer) {
  return server.database.db.selectFrom('announcements').selectAll().orderBy('created_at').execute()
}

export function row(page: Page, title: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: title, exact: true }) })
}

export function titles(page: Page): Locator {
  return page.locator('tbody td:nth-child(2)')
}

export function statusButton(page: Page, title: string, status: 'Active' | 'In Active'): Locator {
  return row(page, title).getByRole('button', { name: status, exact: true })
}

export async function expectShown(image: Locator): Promise<void> {
  await expect(image).toBeVisible()
  await expect
    .poll(() => image.evaluate((element: HTMLImageElement) => element.complete && element.naturalWidth))
    .toBeGreaterThan(0)
}

/** Returns red, green and blue of the text's computed colour. */
export async function rgbOf(element: Locator): Promise<number[]> {
  const color = await element.evaluate((node) => getComputedStyle(node).color)
  return (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number)
}

/** Names that players and other operators chose, within the console's sentences, and texts of characters that are hard to see or count. */
import { sql } from 'kysely'
import { control, expect, field, test, toast } from '#src/test.ts'
import type { Locator } from '@playwright/test'

/** Would turn the rest of a sentence around, and ends an isolation that does not count its controls. */
const TURNS = '\u2069\u202e'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

/** Returns where each word is drawn: a number that grows with the line, and within a line with the distance from the left. */
function placesOf(sentence: Locator, words: string[]): Promise<number[]> {
  return sentence.evaluate((element, searched) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const places = new Map<string, number>()
    while (texts.nextNode()) {
      const text = texts.currentNode.textContent ?? ''
      for (const word of searched.filter((one) => text.includes(one))) {
        const range = document.createRange()
        range.setStart(texts.currentNode, text.indexOf(word))
        range.setEnd(texts.currentNode, text.indexOf(word) + word.length)
        const { top, left } = range.getBoundingClientRect()
        places.set(word, Math.round(top) * innerWidth + left)
      }
    }
    return searched.map((word) => places.get(word) ?? Number.NaN)
  }, words)
}

async function expectDrawnInOrder(sentence: Locator, words: string[]): Promise<void> {
  await expect(sentence).toBeVisible()
  const places = await placesOf(sentence, words)
  expect(places).toEqual(places.toSorted((one, other) => one - other))
}

test('§5 a title with a right-to-left override does not turn around the question of a dialog', async ({ page, server }) => {
  await sql`update tasks set title = ${`Go${TURNS}`} where collection = 'social' and priority = 1`.execute(server.database.db)
  await page.goto('/social-tasks')
  await page.getByRole('row').nth(1).getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('alertdialog')
  await expect(dialog).toContainText('Are you sure you want to delete Go? Its history stays.')
  await expectDrawnInOrder(dialog, ['Its', 'history', 'stays'])
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await toast(page, 'Task Deleted Succesfuly!').getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, 'Go is back.')).toBeVisible()
})

test('§4 nor that of a status toggle, which is otherwise as the specification says', async ({ page, server }) => {
  await sql`update announcements set title = ${`News${TURNS}`}, status = true`.execute(server.database.db)
  await page.goto('/annoucements')
  await page.getByRole('button', { name: 'Active', exact: true }).first().click()
  await expect(page.getByText('Are you sure you want toggle status of News.', { exact: true })).toBeVisible()
})

test('Player: a name from right to left stands apart in questions, and one that cannot be seen is replaced', async ({
  page,
  server,
}) => {
  const rename = (firstName: string, username: string | null) =>
    sql`update telegram_users set first_name = ${firstName}, last_name = null, username = ${username} where user_id = 100008077`.execute(
      server.database.db,
    )
  await rename(`שלום${TURNS}`, null)
  await page.goto('/manage-telegram-users/100008077')
  await expect(page).toHaveTitle('\u2068שלום\u2069 · Arcade Console')
  await page.getByRole('button', { name: 'Adjust Balance' }).click()
  await expectDrawnInOrder(page.getByRole('dialog', { name: 'Adjust Balance' }), ['שלום', '(100008077)'])

  await rename('\u3164\u200b', 'ada')
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('@ada')
  await expect(page.getByRole('region', { name: 'Identity' }).getByText('undefined')).not.toHaveCount(0)
  await page.getByRole('button', { name: 'Block or Erase' }).click()
  await page.getByRole('button', { name: 'Block Player' }).click()
  await expect(page.getByRole('dialog', { name: 'Block Player' })).toContainText('@ada can claim nothing')

  await rename('\u2800', '\u3164')
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('100008077')
})

test('Lists: a name shows where it has invisible characters, and they turn nothing around', async ({ page, server }) => {
  await sql`update telegram_users set first_name = ${'Pa\u200byPal'}, username = ${'\u202ePay 12'} where user_id = 100008077`.execute(
    server.database.db,
  )
  await page.goto('/manage-telegram-users?q=100008077')
  const row = page.getByRole('row').nth(1)
  await expect(row.getByRole('link').getByTitle('Invisible: U+200B')).toBeVisible()
  await expect(row.getByTitle('Invisible: U+202E')).toBeVisible()
  await expectDrawnInOrder(row.locator('[data-column=Username]'), ['Pay', '12'])
})

test('§9 a subtitle of emoji is counted as the server counts it, and a text of invisible characters is missing', async ({
  page,
  server,
}) => {
  await page.goto('/annoucement-form')
  const form = page.getByRole('form')
  await field(page, 'Type').selectOption('link')
  await field(page, 'Title').fill('\u200b\u3164')
  await field(page, 'Subtitle').fill('😀'.repeat(61))
  await expect(form.getByText('61/60')).toHaveAttribute('data-over', 'true')
  await field(page, 'Link').fill('https://x.com/arcade\u200b')
  await field(page, 'Reward').fill('1')
  await control(form, 'Add Annoucement').click()
  await expect(form.getByText('Title is required')).toBeVisible()
  await field(page, 'Subtitle').fill('😀'.repeat(60))
  await expect(form.getByText('60/60')).toBeVisible()
  await field(page, 'Title').fill('Ship 👩\u200d🚀')
  await control(form, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucements')
  const saved = await server.database.db
    .selectFrom('announcements')
    .select(['title', 'link'])
    .where('title', 'like', 'Ship%')
    .execute()
  expect(saved).toEqual([{ title: 'Ship 👩\u200d🚀', link: 'https://x.com/arcade' }])
})

test('§5 Preview: Telegram’s limits are counted in code points', async ({ page }) => {
  await page.goto('/annoucement-form')
  await field(page, 'Type').selectOption('desc')
  await field(page, 'Title').fill('😀')
  await field(page, 'Description').fill('😀'.repeat(4094))
  const length = page
    .getByRole('group')
    .filter({ hasText: 'Preview in Telegram' })
    .first()
    .locator('dl > div')
    .filter({ hasText: 'Message text' })
  await expect(length).toContainText('4,096 / 4,096')
  await expect(page.getByText(/Telegram takes/)).toHaveCount(0)
  await field(page, 'Title').fill('😀😀')
  await expect(page.getByRole('form').getByText('The text has 4,097 characters.', { exact: false })).toBeVisible()
})

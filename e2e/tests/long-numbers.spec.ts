/** Numbers of many digits on the player's page and in lists (design §7): they are neither cut off nor covered, and cover nothing. */
import type { Locator } from '@playwright/test'
import { openSheet, settled } from '#src/lists.ts'
import { phone, sizes } from '#src/sizes.ts'
import { addTasks, social } from '#src/tasks.ts'
import { expect, test } from '#src/test.ts'

/** The player of the sample with the highest balance. */
const RICHEST = 101069783

/** Returns the texts and controls within an element that overlap another one, and the texts that are cut off. */
function collisions(within: Locator): Promise<string[]> {
  return within.evaluate((root) => {
    const texts = document.createNodeIterator(root, NodeFilter.SHOW_TEXT)
    const parts: { owner: Element; name: string; box: DOMRect }[] = []
    const add = (owner: Element, name: string, boxes: Iterable<DOMRect>) => {
      for (const box of boxes) if (box.width > 1) parts.push({ owner, name, box })
    }
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (getComputedStyle(text.parentElement!).overflowX === 'hidden') continue // a text that is cut off covers nothing
      const range = document.createRange()
      range.selectNodeContents(text)
      add(text.parentElement!.closest('button, label, td, dt, dd, p, h2')!, text.textContent!, range.getClientRects())
    }
    for (const control of root.querySelectorAll('button, input')) add(control, control.ariaLabel ?? '', control.getClientRects())
    const overlaps = parts.flatMap(({ owner, name, box }) =>
      parts
        .filter((other) => other.owner !== owner && !owner.contains(other.owner) && !other.owner.contains(owner))
        .filter(
          ({ box: { left, right, top, bottom } }) =>
            box.left < left && box.right > left + 1 && box.top < bottom - 4 && box.bottom > top + 4 && right > 0,
        )
        .map((other) => `${name} × ${other.name}`),
    )
    const cut = [...root.querySelectorAll<HTMLElement>('td[data-align] *')].filter(
      (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1,
    )
    return [...overlaps, ...cut.filter(({ clientWidth }) => clientWidth > 0).map((one) => `cut: ${one.textContent}`)]
  })
}

for (const viewport of sizes)
  test.describe(`at ${viewport.width} × ${viewport.height}`, () => {
    test.use({ viewport })

    test.beforeEach(async ({ signIn, page: _page }) => {
      await signIn('admin')
    })

    test('a balance with eight decimals has room on the player’s page and in the list', async ({ page, server }) => {
      const balance = 35_581_916.75000001
      await server.database.db.updateTable('balances').set({ balance }).where('user_id', '=', RICHEST).execute()
      await page.goto(`/manage-telegram-users/${RICHEST}`)
      const adjust = page.getByRole('button', { name: 'Adjust Balance' })
      await expect(adjust).toBeVisible()
      await expect(page.getByText('Last seen').locator('..')).toContainText(':')
      expect(await collisions(page.locator('main div:has(> section):has(> dl)').filter({ has: adjust }))).toEqual([])
      await page.goto('/manage-telegram-users')
      await settled(page)
      expect(await collisions(page.locator('tbody'))).toEqual([])
    })

    test('the highest priorities and rewards of tasks have room, also beside checkboxes', async ({ page, server }) => {
      await server.database.db.deleteFrom('tasks').where('collection', '=', 'social').execute()
      const long = { priority: 3_541_208_000, reward: 2 ** 53 }
      await addTasks(server, social, long, { priority: 354_120_801 }, { priority: 354_120_800.125, reward: 0.00000001 })
      await page.goto('/social-tasks')
      await settled(page)
      expect(await collisions(page.locator('tbody'))).toEqual([])
      const isPhone = viewport === phone
      if (isPhone) await openSheet(page)
      await page.getByRole('button', { name: 'Select', exact: true }).click()
      const all = page.getByRole('checkbox', { name: 'Select all rows of this page' })
      await all.check()
      expect(await collisions(page.locator('tbody'))).toEqual([])
      if (!isPhone) return
      await expect(page.getByText('Select all rows of this page')).toBeVisible()
      const [search, more] = await Promise.all([
        page.getByRole('searchbox').boundingBox(),
        page.getByRole('button', { name: 'More', exact: true }).boundingBox(),
      ])
      expect(more!.y).toBe(search!.y)
    })
  })

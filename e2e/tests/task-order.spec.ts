/** Reordering tasks by mouse, touch and keyboard, with undo (§2: rows sorted by priority; §5: unique priorities). */
import type { Locator, Page } from '@playwright/test'
import { expectAccessible } from '#src/axe.ts'
import { sizes } from '#src/sizes.ts'
import { addTasks, column, daily, row, social, storedTasks } from '#src/tasks.ts'
import { expect, test, toast } from '#src/test.ts'

test.use({ sample: false, contextOptions: { reducedMotion: 'no-preference' } })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

function moveButton(page: Page, title: string): Locator {
  return page.getByRole('button', { name: `Move ${title}`, exact: true })
}

async function centreOf(element: Locator): Promise<{ x: number; y: number }> {
  const box = await element.boundingBox()
  if (!box) throw new Error('it is not to be seen')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/** Waits until a dragged task is over a position: a drop counts where the page has last drawn the task. */
async function expectOver(page: Page, title: string, position: number): Promise<void> {
  await expect(page.getByText(`${title} moved to position ${position} of `)).toBeAttached()
}

/** Drags a task to another one, which is at this position. */
async function drag(page: Page, title: string, { target, position }: { target: string; position: number }): Promise<void> {
  const [from, to] = [await centreOf(moveButton(page, title)), await centreOf(moveButton(page, target))]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x, to.y, { steps: 8 })
  await expectOver(page, title, position)
  await page.mouse.up()
}

test('§2 a task that is being dragged goes back to its position when another page is opened', async ({ page, server }) => {
  await addTasks(server, social, {}, {}, {})
  const changes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && changes.push(request.url()))
  await page.goto(social.path)
  const [from, to] = [await centreOf(moveButton(page, 'Task 1')), await centreOf(moveButton(page, 'Task 3'))]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x, to.y, { steps: 8 })
  await expectOver(page, 'Task 1', 3)
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await expect(page.getByRole('heading', { level: 1, name: daily.title })).toBeVisible()
  await page.mouse.up()
  await page.goBack()
  await expect(column(page, 3)).toHaveText(['Task 1', 'Task 2', 'Task 3'])
  expect(changes).toEqual([])
})

test.describe('a moved task that somebody else deleted meanwhile', () => {
  test.use({ expectedNoise: { patterns: [/status of 409/] } })

  test('§2 goes from the list, in which the focus stays', async ({ page, server }) => {
    await addTasks(server, social, {}, {}, {})
    await page.goto(social.path)
    await moveButton(page, 'Task 1').press('Space')
    await server.database.db.deleteFrom('tasks').where('title', '=', 'Task 1').execute()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await expect(column(page, 3)).toHaveText(['Task 2', 'Task 3'])
    await expect(page.locator('tbody tr:focus')).toHaveCount(1)
  })
})

for (const facts of [social, daily] as const) {
  const { title, path } = facts

  test.describe(title, () => {
    test(`§2 ${title}: reordering by keyboard is announced, saved and can be undone`, async ({ page, server }) => {
      await addTasks(server, facts, {}, { priority: 20 }, { priority: 30 }, { priority: 40 })
      await page.goto(path)
      const handle = moveButton(page, 'Task 1')
      await handle.press('Space')
      await expect(page.getByText('Task 1 picked up, position 1 of 4.', { exact: false })).toBeAttached()
      await page.keyboard.press('ArrowUp') // there is nothing above
      await page.keyboard.press('ArrowDown')
      await expect(page.getByText('Task 1 moved to position 2 of 4.')).toBeAttached()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await expect(page.getByText('Task 1 dropped at position 3 of 4.')).toBeAttached()
      await expect(column(page, 3)).toHaveText(['Task 2', 'Task 3', 'Task 1', 'Task 4'])
      await expect(column(page, 1)).toHaveText(['1', '20', '30', '40'])
      await expect(handle).toBeFocused()
      await expect(toast(page, 'Task 1 moved.')).toBeVisible()
      expect(await storedTasks(server, facts)).toMatchObject([
        { priority: 1, title: 'Task 2' },
        { priority: 20, title: 'Task 3' },
        { priority: 30, title: 'Task 1' },
        { priority: 40, title: 'Task 4' },
      ])
      await page.reload()
      await expect(column(page, 3)).toHaveText(['Task 2', 'Task 3', 'Task 1', 'Task 4'])
      await moveButton(page, 'Task 4').press('Enter')
      await page.keyboard.press('Home')
      await page.keyboard.press('Space')
      await expect(column(page, 3)).toHaveText(['Task 4', 'Task 2', 'Task 3', 'Task 1'])
      await toast(page, 'Task 4 moved.').getByRole('button', { name: 'Undo' }).press('Enter')
      await expect(toast(page, 'Task 4 is back.')).toBeVisible()
      await expect(moveButton(page, 'Task 4')).toBeFocused()
      await expect(column(page, 3)).toHaveText(['Task 2', 'Task 3', 'Task 1', 'Task 4'])
      expect((await storedTasks(server, facts)).map((one) => one.title)).toEqual(['Task 2', 'Task 3', 'Task 1', 'Task 4'])
    })

    test(`§2 ${title}: a newer move withdraws the Undo of an older one of the same tasks, and of no others`, async ({
      page,
      server,
    }) => {
      await addTasks(server, facts, {}, {}, {}, {})
      await page.goto(path)
      const undo = (task: string) => toast(page, `${task} moved.`).getByRole('button', { name: 'Undo' })
      const move = async (task: string) => {
        await moveButton(page, task).press('Space')
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Space')
        await expect(undo(task)).toBeVisible()
      }
      await move('Task 3') // 1 2 4 3
      await move('Task 1') // 2 1 4 3
      await undo('Task 3').press('Enter') // 2 1 3 4
      await expect(toast(page, 'Task 3 is back.')).toBeVisible()
      const withoutUndo = toast(page, 'Task 1 moved.').filter({ hasNot: page.getByRole('button', { name: 'Undo' }) })
      await Promise.all([expect(withoutUndo).toBeVisible(), move('Task 2')]) // 1 2 3 4
      await undo('Task 2').press('Enter')
      await expect(toast(page, 'Task 2 is back.')).toBeVisible()
      await expect(column(page, 3)).toHaveText(['Task 2', 'Task 1', 'Task 3', 'Task 4'])
      expect((await storedTasks(server, facts)).map((one) => one.title)).toEqual(['Task 2', 'Task 1', 'Task 3', 'Task 4'])
    })

    test(`§2 ${title}: Escape, or leaving the page, puts a lifted task back`, async ({ page, server }) => {
      await addTasks(server, facts, {}, {}, {})
      const sent: string[] = []
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
      await page.goto(path)
      for (const leave of ['Escape', 'Tab']) {
        await moveButton(page, 'Task 1').press('Space')
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press(leave)
        await expect(page.getByText('Task 1 is back at position 1.')).toBeAttached()
        await expect(column(page, 3)).toHaveText(['Task 1', 'Task 2', 'Task 3'])
        expect(await row(page, 'Task 2').evaluate((element) => element.style.transform)).toBe('')
      }
      expect(sent).toEqual([])
    })

    test(`§2 ${title}: reordering by dragging, with mouse and touch`, async ({ page, server }) => {
      await addTasks(server, facts, {}, {}, {}, {})
      await page.goto(path)
      await drag(page, 'Task 4', { target: 'Task 2', position: 2 })
      await expect(column(page, 3)).toHaveText(['Task 1', 'Task 4', 'Task 2', 'Task 3'])
      await expect(toast(page, 'Task 4 moved.')).toBeVisible()
      await drag(page, 'Task 1', { target: 'Task 3', position: 4 })
      await expect(column(page, 3)).toHaveText(['Task 4', 'Task 2', 'Task 3', 'Task 1'])
      await expect(toast(page, 'Task 1 moved.')).toBeVisible()
      const titles = (await storedTasks(server, facts)).map((one) => one.title)
      expect(titles).toEqual(['Task 4', 'Task 2', 'Task 3', 'Task 1'])

      const [from, to] = [await centreOf(moveButton(page, 'Task 2')), await centreOf(moveButton(page, 'Task 1'))]
      const finger = await page.context().newCDPSession(page)
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', y?: number) =>
        finger.send('Input.dispatchTouchEvent', { type, touchPoints: y === undefined ? [] : [{ x: from.x, y }] })
      await touch('touchStart', from.y)
      for (let step = 1; step <= 5; step++) await touch('touchMove', from.y + ((to.y - from.y) * step) / 5)
      await expectOver(page, 'Task 2', 4)
      await touch('touchEnd')
      await expect(column(page, 3)).toHaveText(['Task 4', 'Task 3', 'Task 1', 'Task 2'])
    })

    test(`§2 ${title}: a list longer than the window scrolls under a dragged task`, async ({ page, server }) => {
      await addTasks(server, facts, ...Array.from({ length: 40 }, () => ({})))
      await page.goto(path)
      const from = await centreOf(moveButton(page, 'Task 1'))
      await page.mouse.move(from.x, from.y)
      await page.mouse.down()
      await page.mouse.move(from.x, 890, { steps: 5 })
      await expect
        .poll(() => page.evaluate(() => scrollY + (document.querySelector('table')?.parentElement?.scrollTop ?? 0)))
        .toBeGreaterThan(500)
      await page.mouse.move(from.x, 450, { steps: 5 })
      await page.mouse.up()
      await expect(toast(page, 'Task 1 moved.')).toBeVisible()
      expect((await storedTasks(server, facts)).findIndex((one) => one.title === 'Task 1')).toBeGreaterThan(10)
    })

    for (const viewport of sizes) {
      test(`§2 ${title}: axe finds nothing while a task is lifted, at ${viewport.width} × ${viewport.height}`, async ({
        page,
        server,
      }) => {
        await page.setViewportSize(viewport)
        await addTasks(server, facts, {}, {}, {})
        await page.goto(path)
        await moveButton(page, 'Task 1').press('Space')
        await page.keyboard.press('ArrowDown')
        await expectAccessible(page)
        await page.keyboard.press('Space')
        await expect(toast(page, 'Task 1 moved.').getByRole('button', { name: 'Undo' })).toBeVisible()
        await expectAccessible(page)
      })
    }

    test.describe('refusals', () => {
      test.use({ expectedNoise: { patterns: [/status of 409/] } })

      test(`§2 ${title}: a reorder is refused and taken back if another admin has changed the order meanwhile`, async ({
        page,
        server,
      }) => {
        await addTasks(server, facts, {}, {}, {})
        await page.goto(path)
        await expect(column(page, 3)).toHaveText(['Task 1', 'Task 2', 'Task 3'])
        await server.database.db.updateTable('tasks').set({ priority: 9, version: 2 }).where('title', '=', 'Task 2').execute()
        await moveButton(page, 'Task 1').press('Space')
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Space')
        await expect(
          toast(page, 'These tasks have changed meanwhile. Please look at the list again. The order is as it was.'),
        ).toBeVisible()
        await expect(column(page, 3)).toHaveText(['Task 1', 'Task 3', 'Task 2'])
        await expect(column(page, 1)).toHaveText(['1', '3', '9'])
      })
    })
  })
}

/** Rewards of claims on the dashboard (§2 Dashboard; design §8). */
import type { Locator, Page } from '@playwright/test'
import { makeToken } from '#src/reference-game.ts'
import { expect, test } from '#src/test.ts'

function card(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true })
}

test('Dashboard: the reward of a claim shows in its chart, next to its item and in their tables by itself', async ({
  page,
  server,
  signIn,
}) => {
  const { token: session } = await signIn('admin')
  await page.goto('/?range=24h')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(page.getByText(/^Nothing to show: .*Rewards paid, Rewards per item/)).toBeVisible()
  const { db } = server.database
  const token = await makeToken(server, session)
  const task = await db
    .selectFrom('tasks')
    .select(['id', 'title', 'reward'])
    .where('collection', '=', 'social')
    .orderBy('priority') // neither of the players has claimed the first one in the sample data
    .executeTakeFirstOrThrow()
  const players = await db.selectFrom('telegram_users').select('user_id').orderBy('user_id', 'desc').limit(2).execute()
  for (const { user_id: userId } of players) {
    const answer = await fetch(`${server.url}/bot/v1/players/${userId}/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'social', id: task.id }),
    })
    expect(await answer.json()).toMatchObject({ isFirst: true })
  }
  const sum = (2 * task.reward).toLocaleString('en-US')
  await expect(card(page, 'Rewards paid').locator('header')).toContainText(sum)
  await expect(card(page, 'Rewards paid').getByRole('slider')).toHaveAttribute('aria-valuetext', new RegExp(`: ${sum} paid`))
  const items = card(page, 'Rewards per item')
  await expect(items.getByRole('listitem')).toHaveText(`${task.title}Social task${sum}`)
  await items.getByRole('button', { name: 'Show as table' }).click()
  await expect(items.getByRole('table').getByRole('row')).toHaveText(['TitleOfRewards paid', `${task.title}Social task${sum}`])
  await items.getByRole('link', { name: task.title }).click()
  await expect(page).toHaveURL(`/history?tab=social&item=${task.id}`)
})

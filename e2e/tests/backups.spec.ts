/** Backups on their page and on the dashboard (design §8): the list, `Back up now`, progress that all admins see, cancel, verify. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { expect, test, toast } from '#src/test.ts'
import { holdingPlayers } from '../../server/test/held-players.ts'

test.use({ sample: false })

test('the page of backups lists the last ones with their errors; the dashboard shows no alert if none is scheduled', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/')
  await page.getByRole('navigation', { name: 'Upkeep' }).getByRole('link', { name: 'Backups' }).click()
  await expect(page.getByText('There is no backup yet.')).toBeVisible()
  await expect(page.getByText('No backups are scheduled.')).toBeVisible()
  await sql`insert into backups (id, place, is_scheduled, started_at, finished_at, verified_at, rows, bytes, error) values
    ('a', '/backups/a', true, now() - interval '2 days', now() - interval '2 days' + interval '65 seconds', now(), 1000000, 60400000, null),
    ('b', '/backups/b', true, now() - interval '1 day', null, null, null, null, 'The disk of /backups has too little room left.')`.execute(
    server.database.db,
  )
  await page.reload()
  const rows = page.getByRole('table').getByRole('row')
  await expect(rows).toHaveCount(3)
  await expect(rows.nth(1)).toContainText('FailedThe disk of /backups has too little room left.')
  await expect(rows.nth(2)).toContainText('Verified')
  await expect(rows.nth(2)).toContainText('1,000,00060.4 MB1 min 5 s/backups/a')
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test.describe('a second start is refused', () => {
  test.use({ expectedNoise: { patterns: [/status of 409/] } })

  test('Back up now makes a backup, whose progress all admins see, also after a reload; it is verified', async ({
    page,
    browser,
    server,
    signIn,
  }) => {
    await signIn('admin')
    await page.goto('/backups')
    const { open } = await otherAdmin(server)
    const other = await open(browser, '/backups')
    await expect(other.getByText('There is no backup yet.')).toBeVisible()
    await holdingPlayers(server.database, async () => {
      await page.getByRole('button', { name: 'Back up now' }).click()
      await expect(toast(page, 'Backup started.')).toBeVisible()
      for (const one of [page, other]) {
        const panel = one.getByRole('region', { name: 'Backup Under Way' })
        await expect(panel.getByRole('progressbar')).toBeVisible()
        await expect(panel).toContainText(/[1-9]\d* %.*written.*Saving the tables/)
        await expect(panel).toContainText('Started by Ada Admin')
      }
      await page.reload()
      await expect(page.getByRole('region', { name: 'Backup Under Way' })).toContainText('Saving the tables')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Back up now' }).click({ force: true })
      await expect(toast(page, 'A backup is being made or verified already.')).toBeVisible()
    })
    const row = page.getByRole('table', { name: 'Last Backups' }).getByRole('row').nth(1)
    await expect(row).toContainText('Made, not verified')
    await expect(row).toContainText('By Ada Admin')
    const [name = ''] = await readdir(join(server.dataDir, 'backups'))
    await expect(row).toContainText(name)
    await expect(other.getByRole('table', { name: 'Last Backups' })).toContainText('Made, not verified')

    await page.getByRole('button', { name: /^Verify the backup of / }).click()
    await expect(toast(page, 'Verification started.')).toBeVisible()
    await expect(page.getByRole('region', { name: 'Verification Under Way' })).toBeVisible()
    await expect(toast(page, 'The backup is whole.')).toBeVisible({ timeout: 60_000 })
    await expect(row).toContainText('Verified')
    await page.reload()
    await expect(row).toContainText('Verified')
    await other.context().close()
  })
})

test('a backup is cancelled after a question, and leaves nothing behind', async ({ page, server, signIn }) => {
  await signIn('admin')
  await page.goto('/backups')
  const folders = () => readdir(join(server.dataDir, 'backups'))
  const before = await folders().catch((): string[] => [])
  await holdingPlayers(server.database, async () => {
    await page.getByRole('button', { name: 'Back up now' }).click()
    const panel = page.getByRole('region', { name: 'Backup Under Way' })
    await panel.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alertdialog', { name: 'Cancel backup' }).getByRole('button', { name: 'Cancel backup' }).click()
    await expect(toast(page, 'The backup was cancelled.')).toBeVisible()
    await expect(panel).toHaveCount(0)
    await expect(page.getByRole('table', { name: 'Last Backups' }).getByRole('row').nth(1)).toContainText('Cancelled')
    await expect.poll(folders).toEqual(before)
  })
})

test('§6 a user who is not an admin gets neither the link nor the page', async ({ page, signIn }) => {
  await signIn('user')
  await page.goto('/backups')
  await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Backups' })).toHaveCount(0)
})

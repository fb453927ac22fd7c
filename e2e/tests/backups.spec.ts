/** Backups on their page and on the dashboard (design §8). */
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { expect, test } from '#src/test.ts'

test.use({ sample: false })

test('the page of backups lists the last ones with their errors; the dashboard shows no alert if none is scheduled', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/backups')
  await expect(page.getByText('There is no backup yet.')).toBeVisible()
  await expect(page.getByText('No backups are scheduled.')).toBeVisible()
  await sql`insert into backups (id, place, is_scheduled, started_at, finished_at, verified_at, rows, bytes, error) values
    ('a', '/backups/a', true, now() - interval '2 days', now(), now(), 1000000, 60400000, null),
    ('b', '/backups/b', true, now() - interval '1 day', null, null, null, null, 'The disk of /backups has too little room left.')`.execute(
    server.database.db,
  )
  await page.reload()
  const rows = page.getByRole('table').getByRole('row')
  await expect(rows).toHaveCount(3)
  await expect(rows.nth(1)).toContainText('Failed: The disk of /backups has too little room left.')
  await expect(rows.nth(2)).toContainText('Verified')
  await expect(rows.nth(2)).toContainText('1,000,00060.4 MB/backups/a')
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

/** The page on which admins add webhooks, read their deliveries and send them again. */
import type { Page, Request } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { resize } from '#src/sizes.ts'
import { expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

const confirm = (page: Page, name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click()
const ADDRESS = 'https://bot.example.org/hooks'

async function sendAddress(page: Page, address: string): Promise<void> {
  await field(page, 'Address').fill(address)
  await field(page, 'Address').press('Enter')
}

test('a webhook is added with its secret shown once, tested, replayed, switched off and deleted', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/bot-tokens')
  await page.getByRole('navigation', { name: 'Upkeep' }).getByRole('link', { name: 'Webhooks' }).click()
  await expect(page.getByText('There is no webhook yet.')).toBeVisible()
  await field(page, 'Address').fill('bot.example.org')
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByText('Address must be https://…, without a password or a fragment')).toBeVisible()
  await field(page, 'Address').fill(ADDRESS)
  await page.getByLabel('A task was added, changed, moved, deleted or restored').uncheck()
  await field(page, 'Address').press('Enter')
  await expect(toast(page, 'Webhook added.')).toBeVisible()
  await expect(field(page, `Signing Secret of ${ADDRESS}`)).toBeFocused()
  await expect(field(page, 'Address')).toHaveValue('')
  await expect(field(page, 'Address')).not.toHaveAttribute('aria-invalid', 'true')
  const secret = await field(page, `Signing Secret of ${ADDRESS}`).inputValue()
  expect(secret).toMatch(/^whsec_/)
  await page.reload()
  const item = page.getByRole('listitem').filter({ hasText: ADDRESS })
  await expect(item).toContainText('An announcement was activated')
  await expect(item).not.toContainText('A task was added')
  expect(await page.content()).not.toContain(secret)

  await page.getByRole('button', { name: `Send Test to ${ADDRESS}` }).click()
  await expect(toast(page, 'Test queued.')).toBeVisible()
  await page.getByRole('button', { name: `Deliveries to ${ADDRESS}` }).click()
  const row = item.getByRole('row').nth(1)
  await expect(row).toContainText('Test')
  await expect(row).toContainText('Waiting')
  await expect(row.getByRole('button', { name: /^Replay/ })).toHaveCount(0)
  await expect(row).toContainText('next ') // the first attempt has failed and is recorded, so that it cannot overwrite what follows
  const { db } = server.database
  await sql`update webhook_deliveries set next_at = null, attempts = 10, result = 'Answered 500'`.execute(db)
  await expect(row).toContainText('Failed')
  await expect(row).toContainText('Answered 500')
  await expectAccessible(page)
  await row.getByRole('button', { name: /^Replay msg_/ }).click()
  await expect(toast(page, 'Queued again.')).toBeVisible()
  await expect(row).toContainText('Waiting')
  await expect(row.getByRole('button', { name: /^Replay/ })).toHaveCount(0)

  await page.getByRole('button', { name: `Switch Off ${ADDRESS}` }).click()
  await expect(item).toContainText('Switched off')
  await sql`update webhooks set alert = 'It has failed for a day, so it was switched off.'`.execute(db)
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await expect(
    page.getByRole('alert').filter({ hasText: 'The webhook to bot.example.org: It has failed for a day' }),
  ).toBeVisible()
  await page.getByRole('link', { name: 'See all webhooks' }).click()
  await page.getByRole('button', { name: `Delete ${ADDRESS}` }).click()
  await confirm(page, 'Delete webhook')
  await expect(page.getByText('There is no webhook yet.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Webhooks', level: 1 })).toBeFocused()
})

test('a webhook’s row and its deliveries change together, and none of their texts is cut off for good', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/webhooks')
  await sendAddress(page, `${ADDRESS}/${'a-long-path-'.repeat(8)}${'withoutabreak'.repeat(8)}`)
  const item = page.getByRole('listitem').filter({ hasText: ADDRESS })
  await item.getByRole('button', { name: /^Send Test/ }).click()
  await item.getByRole('button', { name: /^Deliveries/ }).click()
  const row = item.getByRole('row').nth(1)
  await expect(row).toContainText('Waiting')
  await expect(item).toContainText('1 waiting')
  const { db } = server.database
  const result = 'Not reached: UNABLE_TO_VERIFY_LEAF_SIGNATURE'
  const happened: string[] = []
  const isOfBoth = (request: Request): boolean => /\/api\/webhooks(\/[^/]+\/deliveries)?$/.test(new URL(request.url()).pathname)
  page.on('request', (request) => void (isOfBoth(request) && happened.push('asked')))
  page.on('requestfinished', (request) => void (isOfBoth(request) && happened.push('answered')))
  await sql`update webhook_deliveries set next_at = null, delivered_at = null, attempts = 10, result = ${result}`.execute(db)
  await expect(row).toContainText('Failed')
  await expect(item).not.toContainText('1 waiting')
  // Both questions are asked before either is answered. The answers to earlier questions may come first.
  const first = happened.indexOf('asked')
  expect(happened.slice(first, first + 4)).toEqual(['asked', 'asked', 'answered', 'answered'])
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await resize(page, { width, height })
    // On a wide screen a line of the table ends in dots if it is too long. It unfolds.
    const parts = width === 390 ? 'td, button, p' : 'td:not([data-long]), button:not([aria-expanded]), p'
    const cut = (): Promise<(string | null)[]> =>
      item.evaluate(
        (element, selector) =>
          [...element.querySelectorAll(selector)]
            .filter((part) => {
              const [own, whole] = [part.getBoundingClientRect(), element.getBoundingClientRect()]
              return own.right > whole.right + 1 || own.left < whole.left - 1 || part.scrollWidth > part.clientWidth + 1
            })
            .map((part) => part.textContent),
        parts,
      )
    await expect.poll(cut, `at ${width}`).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  }
})

test('a delivery is one line in words; unfolded, it shows the whole answer and what was sent', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/webhooks')
  await sendAddress(page, ADDRESS)
  await expect(toast(page, 'Webhook added.')).toBeVisible()
  const { db } = server.database
  const task = (title: string) => ({ kind: 'socialTask', id: 't', title })
  const payloads = [
    { change: 'changed', items: [task('Follow us on X')] },
    { change: 'moved', items: [task('A'.repeat(90)), task('B'), task('C')] },
    { change: 'adjusted', items: [{ kind: 'player', id: '7', title: '' }] },
  ]
  for (const [n, data] of payloads.entries()) {
    const event = data.change === 'adjusted' ? 'player.adjusted' : 'task.changed'
    await sql`insert into webhook_deliveries (id, webhook_id, event, payload, created_at, attempts, tried_at, next_at, delivered_at, result)
      select ${`msg_${n}`}, id, ${event}, ${JSON.stringify({ type: event, data })}, now() - make_interval(mins => ${n}), 1, now(), null, now(),
             ${`Answered 200 ${'in a long sentence '.repeat(9)}`} from webhooks`.execute(db)
  }
  await page.getByRole('button', { name: `Deliveries to ${ADDRESS}` }).click()
  const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row')
  await expect(rows.nth(1)).toContainText('Task changed: Follow us on X')
  await expect(rows.nth(2)).toContainText(`Task moved: ${'A'.repeat(90)} and 2 more`)
  await expect(rows.nth(3)).toContainText('Balance adjusted: 7')
  await resize(page, { width: 1440, height: 900 })
  const heights = await rows.evaluateAll((all) => all.slice(1).map((row) => row.getBoundingClientRect().height))
  expect(Math.max(...heights), heights.join()).toBeLessThan(60)
  await rows
    .nth(2)
    .getByRole('button', { name: /^Details of Task moved/ })
    .click()
  await expect(rows.nth(3)).toContainText('msg_1')
  await expect(rows.nth(3)).toContainText('task.changed')
  await expect(rows.nth(3)).toContainText('"change": "moved"')
  await expect(rows.nth(3)).toContainText('in a long sentence in a long sentence')
  await expectAccessible(page)
  await rows
    .nth(2)
    .getByRole('button', { name: /^Details of Task moved/ })
    .press('Enter')
  await expect(rows).toHaveCount(4)
})

test.describe('refusals', () => {
  test.use({ expectedNoise: { patterns: [/status of 40[09]/] } })

  test('an address that deliveries cannot reach is refused at its field at once', async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto('/webhooks')
    for (const [address, reason] of [
      ['http://bot.invalid/hooks', 'Address must begin with https://'],
      [
        'https://10.0.0.8/hooks',
        'Address must be public: 10.0.0.8 is not a public address. Only addresses that the administrator of this server has allowed can be private.',
      ],
    ] as const) {
      await sendAddress(page, address)
      await expect(field(page, 'Address')).toHaveAccessibleDescription(new RegExp(reason))
      await expect(field(page, 'Address')).toBeFocused()
    }
    await sendAddress(page, 'https://bot.example.org:0/hooks')
    await expect(field(page, 'Address')).toHaveAccessibleDescription(/a port from 1 to 65535/)
    await expect(page.getByText('There is no webhook yet.')).toBeVisible()
  })

  test('a webhook that is switched off refuses a test and shows no next attempt; deleting it also removes its shown secret', async ({
    page,
    server,
    signIn,
  }) => {
    await signIn('admin')
    await page.goto('/webhooks')
    await sendAddress(page, ADDRESS)
    await expect(field(page, `Signing Secret of ${ADDRESS}`)).toBeFocused()
    await page.getByRole('button', { name: `Send Test to ${ADDRESS}` }).click()
    await page.getByRole('button', { name: `Deliveries to ${ADDRESS}` }).click()
    await sql`update webhook_deliveries set attempts = 1, result = 'Answered 500', next_at = now() + interval '1 day'`.execute(
      server.database.db,
    )
    const row = page.getByRole('listitem').filter({ hasText: ADDRESS }).getByRole('row').nth(1)
    await expect(row).toContainText(/1 attempt.*next /)
    await page.getByRole('button', { name: `Switch Off ${ADDRESS}` }).click()
    await expect(row).toContainText(/1 attempt.*waits while switched off/)
    const refreshed = Promise.withResolvers<void>()
    await page.route('**/api/webhooks', async (route) => {
      await refreshed.promise
      await route.continue()
    })
    await page.getByRole('button', { name: `Send Test to ${ADDRESS}` }).click()
    await expect(toast(page, 'This webhook is switched off, so no test is sent to it.')).toBeVisible()
    // The list is still being reloaded after the previous act when the next button is pressed.
    await page.getByRole('button', { name: `Delete ${ADDRESS}` }).click()
    await expect(page.getByRole('alertdialog')).toBeVisible()
    refreshed.resolve()
    await confirm(page, 'Delete webhook')
    await expect(page.getByText('There is no webhook yet.')).toBeVisible()
    await expect(field(page, `Signing Secret of ${ADDRESS}`)).toHaveCount(0)
  })
})

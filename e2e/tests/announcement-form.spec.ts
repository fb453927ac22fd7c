/** The form of announcements and its files (§2, §3, §4, §5, §7, §8). */
import {
  add,
  badge,
  banner,
  expectShown,
  fillIn,
  newDesc,
  newLink,
  retweet,
  row,
  season,
  statusButton,
  stored,
  submitButton,
  titles,
} from '#src/announcements.ts'
import { control, expect, expectError, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('§5 every message shows, but only after its field was touched', async ({ page, server }) => {
  await page.goto('/annoucements')
  await control(page, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucement-form')
  await field(page, 'Title').focus()
  await expect(page.getByText(/is required/)).toHaveCount(0)
  await field(page, 'Subtitle').focus()
  await expectError(page, 'Title', 'Title is required')
  await expect(page.getByText('Subtitle is required', { exact: true })).toHaveCount(0)
  await submitButton(page, 'Add Annoucement').click()
  await expectError(page, 'Type', 'Type is required!')
  await expectError(page, 'Title', 'Title is required')
  await expectError(page, 'Subtitle', 'Subtitle is required')
  await expectError(page, 'Reward', 'Reward is required')
  await field(page, 'Reward').pressSequentially('many')
  await expectError(page, 'Reward', 'Reward must be a number')
  await field(page, 'Reward').fill('-1')
  await expectError(page, 'Reward', 'Reward must be 0 or more') // design §7
  await fillIn(page, { ...newLink, Link: 'nonsense', Subtitle: 'x'.repeat(61) })
  await submitButton(page, 'Add Annoucement').click()
  await expectError(page, 'Link', 'Invalid URL format')
  await expect(field(page, 'Subtitle')).toHaveAccessibleDescription(/60 characters/)
  expect(await stored(server)).toEqual([])
  await fillIn(page, { Link: 'https://t.me/arcade', Subtitle: 'x'.repeat(60) })
  await submitButton(page, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucements')
  expect(await stored(server)).toMatchObject([{ subtitle: 'x'.repeat(60) }])
})

test('§5 another type and back keeps what was typed, and a link that is hidden is neither checked nor saved', async ({
  page,
  server,
}) => {
  await page.goto('/annoucement-form')
  await fillIn(page, { ...newLink, Link: 'nonsense' })
  await field(page, 'Type').selectOption('desc')
  await field(page, 'Description').fill('Words')
  await field(page, 'Type').selectOption('link')
  await expect(field(page, 'Link')).toHaveValue('nonsense')
  await field(page, 'Type').selectOption('desc')
  await expect(field(page, 'Description')).toHaveValue('Words')
  await submitButton(page, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucements')
  expect(await stored(server)).toMatchObject([{ type: 'desc', description: 'Words', link: null, link_type: null }])
})

test('§5 desc shows a description; link a link and its type; input text only for Link with input', async ({ page }) => {
  await page.goto('/annoucement-form')
  for (const label of ['Description', 'Link', 'Link Type', 'Input Text']) await expect(field(page, label)).toHaveCount(0)
  await field(page, 'Type').selectOption('desc')
  await expect(field(page, 'Description')).toBeVisible()
  for (const label of ['Link', 'Link Type', 'Input Text']) await expect(field(page, label)).toHaveCount(0)
  await field(page, 'Type').selectOption('link')
  await expect(field(page, 'Description')).toHaveCount(0)
  await expect(field(page, 'Link')).toBeVisible()
  await expect(field(page, 'Link Type').locator('option:enabled')).toHaveText(['Link with input', 'Link without input'])
  await field(page, 'Link Type').selectOption({ label: 'Link with input' })
  await expect(field(page, 'Input Text')).toBeVisible()
  await field(page, 'Link Type').selectOption({ label: 'Link without input' })
  await expect(field(page, 'Input Text')).toHaveCount(0)
})

test('§5 image and icon: No file chosen, preview, clear', async ({ page }) => {
  await page.goto('/annoucement-form')
  await expect(page.getByText('No file chosen', { exact: true })).toHaveCount(2)
  await field(page, 'Image').setInputFiles(banner)
  await expect(page.getByText('banner.png', { exact: true })).toBeVisible()
  await expectShown(page.getByAltText('Image preview'))
  await field(page, 'Icon').setInputFiles(badge)
  await expect(page.getByText('badge.webp', { exact: true })).toBeVisible()
  await expectShown(page.getByAltText('Icon preview'))
  await expect(page.getByText('No file chosen', { exact: true })).toHaveCount(0)
  await page.getByRole('button', { name: 'Clear', exact: true }).first().click()
  await expect(page.getByText('banner.png', { exact: true })).toHaveCount(0)
  await expect(page.getByAltText('Image preview')).toHaveCount(0)
  await expect(page.getByText('No file chosen', { exact: true })).toHaveCount(1)
  await expectShown(page.getByAltText('Icon preview'))
  await field(page, 'Image').setInputFiles(banner)
  await expectShown(page.getByAltText('Image preview'))
})

test('§8 Announcement Created Successfully!: In Active, with its thumbs; the form is empty again', async ({ page, server }) => {
  await page.goto('/annoucement-form')
  await fillIn(page, newDesc)
  await field(page, 'Image').setInputFiles(banner)
  await field(page, 'Icon').setInputFiles(badge)
  await submitButton(page, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucements')
  await expect(statusButton(page, 'Season 3', 'In Active')).toBeVisible()
  await expect(row(page, 'Season 3').getByText('default', { exact: true })).toHaveCount(0)
  for (const name of ['banner.png', 'badge.webp']) {
    await expect(row(page, 'Season 3').getByRole('button', { name, exact: true })).toBeVisible()
    await expectShown(row(page, 'Season 3').getByRole('img', { name, exact: true }))
  }
  await expect(row(page, 'Season 3').getByRole('img', { name: 'banner.png' })).toHaveJSProperty('naturalWidth', 96) // of 300
  await expect(toast(page, 'Announcement Created Successfully!')).toBeVisible()
  const [announcement] = await stored(server)
  expect(announcement).toMatchObject({ type: 'desc', title: 'Season 3', subtitle: 'Soon', reward: 12.5, status: false })
  expect(announcement).toMatchObject({ description: 'Line one\nline two', image_name: 'banner.png', icon_name: 'badge.webp' })
  expect(announcement?.image_key).toMatch(/^announcements\/\d+_banner\.png$/) // §7
  expect(announcement?.icon_key).toMatch(/^announcements\/\d+_badge\.webp$/)
  await control(page, 'Add Annoucement').click()
  for (const label of ['Title', 'Subtitle', 'Reward']) await expect(field(page, label)).toHaveValue('')
  await expect(page.getByText('No file chosen', { exact: true })).toHaveCount(2)
})

const links = [
  { label: 'Link with input', saved: { link_type: 'input', input_text: 'Paste it' } },
  { label: 'Link without input', saved: { link_type: 'noInput', input_text: null } },
]

for (const { label, saved } of links) {
  test(`§5 ${label}: what is stored`, async ({ page, server }) => {
    await page.goto('/annoucement-form')
    for (const values of [newDesc, newLink]) await fillIn(page, values) // also a description, which announcements of type link do not have
    await field(page, 'Link Type').selectOption({ label: 'Link with input' })
    await field(page, 'Input Text').fill('Paste it')
    await field(page, 'Link Type').selectOption({ label })
    await submitButton(page, 'Add Annoucement').click()
    await expect(page).toHaveURL('/annoucements')
    await expect(row(page, 'Join us')).toContainText('https://t.me/arcade')
    expect(await stored(server)).toMatchObject([{ type: 'link', link: 'https://t.me/arcade', description: null, ...saved }])
  })
}

test('§4 Enter submits, and a double submit is impossible', async ({ page, server }) => {
  const held = Promise.withResolvers<void>()
  const sent: string[] = []
  await page.route(/\/api\/(files\/)?announcements(\?|$)/, async (route) => {
    if (route.request().method() === 'POST') {
      sent.push(new URL(route.request().url()).pathname)
      await held.promise
    }
    await route.continue()
  })
  await page.goto('/annoucement-form')
  await fillIn(page, newLink)
  await field(page, 'Image').setInputFiles(banner)
  await field(page, 'Title').press('Enter')
  await field(page, 'Title').press('Enter')
  await expect(submitButton(page, 'Add Annoucement')).toBeDisabled()
  await submitButton(page, 'Add Annoucement').dblclick({ force: true })
  held.resolve()
  await expect(page).toHaveURL('/annoucements')
  await expect(titles(page)).toHaveText(['Join us'])
  expect(sent).toEqual(['/api/files/announcements', '/api/announcements'])
  expect(await stored(server)).toHaveLength(1)
})

test('§8 Announcement Updated Successfully!: from the address, back on the list, In Active again', async ({ page, server }) => {
  await add(server, retweet)
  await page.goto('/annoucements')
  await expect(statusButton(page, 'Retweet', 'Active')).toBeVisible()
  await control(row(page, 'Retweet'), 'Update').click()
  await expect(page).toHaveURL('/annoucement-form-update?id=retweet')
  await page.reload()
  const texts = { Title: 'Retweet', Subtitle: 'And earn', Link: 'https://x.com/arcade/1', 'Input Text': 'Your post', Reward: '5' }
  for (const [label, value] of Object.entries({ ...texts, Type: 'link', 'Link Type': 'input' }))
    await expect(field(page, label)).toHaveValue(value)
  await field(page, 'Title').fill('Repost')
  await field(page, 'Title').press('Enter')
  await expect(page).toHaveURL('/annoucements')
  await expect(toast(page, 'Announcement Updated Successfully!')).toBeVisible()
  await expect(statusButton(page, 'Repost', 'In Active')).toBeVisible()
  expect(await stored(server)).toMatchObject([{ title: 'Repost', status: false, link_type: 'input', input_text: 'Your post' }])
})

test('§5 an update clears fields that the type does not have', async ({ page, server }) => {
  await add(server, season, retweet)
  await page.goto('/annoucement-form-update?id=season')
  await fillIn(page, { Type: 'link', Link: 'https://t.me/arcade', 'Link Type': 'noInput' })
  await submitButton(page, 'Update').click()
  await expect(page).toHaveURL('/annoucements')
  await page.goto('/annoucement-form-update?id=retweet')
  await fillIn(page, { Type: 'desc', Description: 'Words' })
  await submitButton(page, 'Update').click()
  await expect(page).toHaveURL('/annoucements')
  await expect(row(page, 'Retweet')).toContainText('Words')
  expect(await stored(server)).toMatchObject([
    { type: 'link', description: null, link: 'https://t.me/arcade', link_type: 'noInput', input_text: null },
    { type: 'desc', description: 'Words', link: null, link_type: null, input_text: null },
  ])
})

test('§7 an update keeps, replaces and clears files; the old ones are removed, on delete too', async ({ page, server }) => {
  const statusOf = async (key: string | null | undefined) => (await page.request.get(`/api/files/${key}`)).status()
  await page.goto('/annoucement-form')
  await fillIn(page, newDesc)
  await field(page, 'Image').setInputFiles(banner)
  await field(page, 'Icon').setInputFiles(badge)
  await submitButton(page, 'Add Annoucement').click()
  await expect(row(page, 'Season 3')).toBeVisible()
  const [before] = await stored(server)

  await control(row(page, 'Season 3'), 'Update').click()
  await expectShown(page.getByAltText('Image preview'))
  await expectShown(page.getByAltText('Icon preview'))
  await page.getByRole('button', { name: 'Clear', exact: true }).nth(1).click()
  await submitButton(page, 'Update').click()
  await expect(row(page, 'Season 3').getByText('default', { exact: true })).toHaveCount(2)
  expect(await stored(server)).toMatchObject([
    { image_key: before?.image_key, image_name: 'banner.png', icon_key: null, icon_name: null },
  ])
  await expect.poll(() => statusOf(before?.icon_key)).toBe(404)
  expect(await statusOf(before?.image_key)).toBe(200)

  await control(row(page, 'Season 3'), 'Update').click()
  await expectShown(page.getByAltText('Image preview'))
  await field(page, 'Image').setInputFiles({ ...badge, name: 'new.webp' })
  await submitButton(page, 'Update').click()
  await expectShown(row(page, 'Season 3').getByRole('img', { name: 'new.webp' }))
  const [after] = await stored(server)
  await expect.poll(() => statusOf(before?.image_key)).toBe(404)
  expect(await statusOf(after?.image_key)).toBe(200)

  await row(page, 'Season 3').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByText('No annoucements found!')).toBeVisible()
  await expect.poll(() => statusOf(after?.image_key)).toBe(404)
})

test.describe('refusals', () => {
  test.use({ expectedNoise: { patterns: [/status of (400|409|500)/] } })
  const broken = (message: string) => ({ status: 500, json: { success: false, code: 'INTERNAL', message, error: message } })

  test('§8 Error Creating Announcement! keeps the text and the files', async ({ page, server }) => {
    await page.route('**/api/announcements', (route) => route.fulfill(broken('Internal Server Error!')), { times: 1 })
    await page.goto('/annoucement-form')
    await fillIn(page, newDesc)
    await field(page, 'Image').setInputFiles(banner)
    await submitButton(page, 'Add Annoucement').click()
    await expect(toast(page, 'Error Creating Announcement!')).toBeVisible()
    await expect(page).toHaveURL('/annoucement-form')
    await expect(field(page, 'Title')).toHaveValue('Season 3')
    await expect(page.getByText('banner.png', { exact: true })).toBeVisible()
    await submitButton(page, 'Add Annoucement').click()
    await expect(page).toHaveURL('/annoucements')
    await expectShown(row(page, 'Season 3').getByRole('img', { name: 'banner.png' }))
    expect(await stored(server)).toHaveLength(1)
  })

  test('§8 Error Creating Announcement! for a file that the server refuses, with the reason', async ({ page, server }) => {
    const message = 'The image is damaged or incomplete.'
    const json = { success: false, code: 'INVALID_INPUT', message, error: message, fields: { body: message } }
    await page.route('**/api/files/announcements?*', (route) => route.fulfill({ status: 400, json }))
    await page.goto('/annoucement-form')
    await fillIn(page, newDesc)
    await field(page, 'Image').setInputFiles(banner)
    await submitButton(page, 'Add Annoucement').click()
    await expect(toast(page, 'Error Creating Announcement!')).toBeVisible()
    await expect(field(page, 'Image')).toHaveAccessibleDescription(/The image is damaged or incomplete/)
    expect(await stored(server)).toEqual([])
  })

  test('§8 Error Updating Announcement! keeps the text', async ({ page, server }) => {
    await add(server, season)
    await page.route('**/api/announcements/season', (route) =>
      route.request().method() === 'PUT' ? route.fulfill(broken('Internal Server Error!')) : route.continue(),
    )
    await page.goto('/annoucement-form-update?id=season')
    await field(page, 'Title').fill('Mine')
    await submitButton(page, 'Update').click()
    await expect(toast(page, 'Error Updating Announcement!')).toBeVisible()
    await expect(field(page, 'Title')).toHaveValue('Mine')
    expect(await stored(server)).toMatchObject([{ title: 'Season 2' }])
  })

  test('a stale save is no error: a toast says what happened, and the operator’s text stays', async ({ page, server }) => {
    await add(server, { ...season, status: true })
    await page.goto('/annoucement-form-update?id=season')
    await expect(field(page, 'Title')).toHaveValue('Season 2')
    await expect(page.getByText('This announcement is Active.')).toBeVisible()
    await server.database.db.updateTable('announcements').set({ title: 'Meanwhile', version: 2, status: false }).execute()
    await field(page, 'Title').fill('Mine')
    await submitButton(page, 'Update').click()
    const merging = 'This was changed meanwhile. Nothing is saved yet: compare both versions, then save.'
    await expect(page.getByRole('alert')).toHaveText([merging])
    await expect(page.getByRole('form').getByText(/Somebody else has changed this meanwhile/)).toBeVisible()
    await expect(page.getByText('This announcement is Active.')).toHaveCount(0) // the status may have changed too
    await expect(field(page, 'Title')).toHaveValue('Mine')
    expect(await stored(server)).toMatchObject([{ title: 'Meanwhile' }])
    await page.getByRole('button', { name: 'Load the new version' }).click()
    await expect(field(page, 'Title')).toHaveValue('Meanwhile')
  })
})

test('§7 a double click, and a retry after a lost answer, create one announcement', async ({ page, server, expectedNoise }) => {
  expectedNoise.patterns = [/Failed to load resource/]
  await page.goto('/annoucement-form')
  await fillIn(page, newDesc)
  const lost = Promise.withResolvers<void>()
  await page.route(
    '**/api/announcements',
    async (route) => {
      await route.fetch()
      await route.abort()
      lost.resolve()
    },
    { times: 1 },
  )
  await submitButton(page, 'Add Annoucement').dblclick()
  await lost.promise
  await expect(
    page.getByRole('form').getByText('The connection is gone, and it is not known whether this was saved.'),
  ).toBeVisible()
  expect(await stored(server)).toHaveLength(1)
  await submitButton(page, 'Add Annoucement').dblclick()
  await expect(page).toHaveURL('/annoucements')
  await expect(toast(page, 'Announcement Created Successfully!')).toBeVisible()
  expect(await stored(server)).toHaveLength(1)
})

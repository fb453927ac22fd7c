/** The form of an announcement that is Active (§4): what its buttons save, ask and leave alone. */
import { add, banner, expectShown, retweet, row, season, statusButton, stored, submitButton } from '#src/announcements.ts'
import { control, expect, expectError, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const notice =
  'This announcement is Active. Update makes it In Active; players see it again once it is activated. ' +
  'Update and keep live tells no player, Update and activate tells all again.'

test('§4 the form says that Update makes it In Active, but not for an announcement that is In Active', async ({
  page,
  server,
}) => {
  await add(server, season, retweet)
  await page.goto('/annoucement-form-update?id=retweet')
  await expect(page.getByText(notice)).toBeVisible()
  await field(page, 'Title').fill('Repost')
  await submitButton(page, 'Update').click()
  await expect(statusButton(page, 'Repost', 'In Active')).toBeVisible()
  await control(row(page, 'Season 2'), 'Update').click()
  await expect(field(page, 'Title')).toHaveValue('Season 2')
  await expect(page.getByText(notice)).toHaveCount(0)
  await expect(page.getByRole('button', { name: /^Update and/ })).toHaveCount(0)
})

test('§4 Update and activate asks, then saves and activates; players are told again', async ({ page, server }) => {
  await add(server, retweet)
  await page.goto('/annoucement-form-update?id=retweet')
  await field(page, 'Title').fill('')
  await page.getByRole('button', { name: 'Update and activate' }).click()
  await expectError(page, 'Title', 'Title is required')
  await field(page, 'Title').fill('Repost')
  await page.getByRole('button', { name: 'Update and activate' }).click()
  const question = page.getByRole('alertdialog')
  await expect(question.getByText('Are you sure you want toggle status of Repost.', { exact: true })).toBeVisible()
  await expect(
    question.getByText(/^The update is saved, and it becomes Active again\. .+ will have something new\.$/),
  ).toBeVisible()
  expect(await stored(server), 'nothing is saved before the answer').toMatchObject([
    { title: 'Retweet', status: true, version: 1 },
  ])
  await question.getByRole('button', { name: 'Update and activate' }).click()
  await expect(page).toHaveURL('/annoucements')
  await expect(toast(page, 'Announcement Updated Successfully!')).toBeVisible()
  await expect(toast(page, 'Status Updated Successfuly!')).toBeVisible()
  await expect(statusButton(page, 'Repost', 'Active')).toBeVisible()
  expect(await stored(server)).toMatchObject([{ title: 'Repost', status: true }])
})

test('§4 Cancel in the question of Update and activate changes nothing and keeps the form', async ({ page, server }) => {
  await add(server, retweet)
  const changes: string[] = []
  page.on('request', (request) => {
    if (!['GET', 'HEAD'].includes(request.method())) changes.push(request.url())
  })
  await page.goto('/annoucement-form-update?id=retweet')
  await field(page, 'Title').fill('Repost')
  await field(page, 'Image').setInputFiles(banner)
  await expectShown(page.getByAltText('Image preview'))
  await page.getByRole('button', { name: 'Update and activate' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('button', { name: 'Update and activate' })).toBeEnabled()
  await expect(page).toHaveURL('/annoucement-form-update?id=retweet')
  await expect(field(page, 'Title')).toHaveValue('Repost')
  await expect(page.getByRole('alert')).toHaveCount(0)
  expect(changes).toEqual([])
  expect(await stored(server)).toMatchObject([{ title: 'Retweet', status: true, version: 1 }])
  await submitButton(page, 'Update').click()
  await expect(statusButton(page, 'Repost', 'In Active')).toBeVisible()
})

test('Update and keep live asks, then saves; it stays Active and no player is told', async ({ page, server }) => {
  await add(server, { ...retweet, news: 4 })
  const { db } = server.database
  const newsNumber = async () => (await db.selectFrom('status_epoch').select('epoch').executeTakeFirstOrThrow()).epoch
  const before = await newsNumber()
  await page.goto('/annoucement-form-update?id=retweet')
  await field(page, 'Title').fill('')
  await page.getByRole('button', { name: 'Update and keep live' }).click()
  await expectError(page, 'Title', 'Title is required')
  await field(page, 'Title').fill('Repost')
  const question = page.getByRole('alertdialog')
  for (const answer of ['Cancel', 'Update and keep live']) {
    await page.getByRole('button', { name: 'Update and keep live' }).click()
    await expect(question.getByText('Are you sure you want to update Repost?', { exact: true })).toBeVisible()
    await expect(question.getByText(/it stays Active\. No player is told/)).toBeVisible()
    expect(await stored(server), 'nothing is saved before Confirm').toMatchObject([
      { title: 'Retweet', status: true, version: 1 },
    ])
    await question.getByRole('button', { name: answer }).click()
    await expect(question).toBeHidden()
  }
  await expect(page).toHaveURL('/annoucements')
  await expect(toast(page, 'Announcement Updated Successfully!')).toBeVisible()
  await expect(statusButton(page, 'Repost', 'Active')).toBeVisible()
  expect(await stored(server)).toMatchObject([{ title: 'Repost', status: true, version: 2, news: 4 }])
  expect(await newsNumber()).toBe(before)
})

test.describe('refusals', () => {
  test.use({ expectedNoise: { patterns: [/status of 409/] } })

  test('Update and keep live does not activate what somebody else has made In Active meanwhile', async ({ page, server }) => {
    await add(server, retweet)
    await page.goto('/annoucement-form-update?id=retweet')
    await field(page, 'Title').fill('Repost')
    await server.database.db.updateTable('announcements').set({ version: 2, status: false }).execute()
    await page.getByRole('button', { name: 'Update and keep live' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Update and keep live' }).click()
    await expect(page.getByRole('button', { name: 'Save merged' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Update and keep live' })).toHaveCount(0)
    expect(await stored(server)).toMatchObject([{ title: 'Retweet', status: false, version: 2 }])
  })
})

test('§4 the notice is above the fields, and the buttons stand in a line, or two by two', async ({ page, server }) => {
  await add(server, retweet)
  await page.goto('/annoucement-form-update?id=retweet')
  const buttons = ['Back', 'Update', 'Update and keep live', 'Update and activate'].map((name) =>
    control(page.getByRole('form'), name),
  )
  const tops = async () => {
    const boxes = await Promise.all(buttons.map((button) => button.boundingBox()))
    return boxes.map((box) => Math.round(box!.y - boxes[0]!.y))
  }
  await expect(page.getByText(notice)).toBeInViewport({ ratio: 1 })
  const type = (await field(page, 'Type').boundingBox())!
  expect((await page.getByText(notice).boundingBox())!.y).toBeLessThan(type.y)
  for (const width of [1440, 1280, 1024]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await tops(), `at ${width}`).toEqual([0, 0, 0, 0])
  }
  await page.setViewportSize({ width: 390, height: 844 })
  const [, , third, fourth] = await tops()
  expect(third).toBeGreaterThan(40)
  expect(await tops()).toEqual([0, 0, third, third])
  expect(fourth).toBe(third)
})

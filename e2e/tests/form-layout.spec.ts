/** Where a form shows its errors and buttons (design §7), with the announcement's, which is the longest. */
import { fillIn, newLink, submitButton } from '#src/announcements.ts'
import { expect, expectError, field, test } from '#src/test.ts'

test.use({ sample: false })

test('§5 errors and a refusal move neither the fields nor the buttons, which stay in view in a low window', async ({
  page,
  signIn,
  expectedNoise,
}) => {
  expectedNoise.patterns = [/status of 500/]
  await signIn('admin')
  await page.goto('/annoucement-form')
  await field(page, 'Type').selectOption('link')
  const submit = submitButton(page, 'Add Annoucement')
  const placeOf = async () => [await submit.boundingBox(), await field(page, 'Reward').boundingBox()]
  const before = await placeOf()
  await submit.click()
  await expectError(page, 'Reward', 'Reward is required')
  await field(page, 'Link').fill('nonsense')
  await field(page, 'Link').blur()
  await expectError(page, 'Link', 'Invalid URL format')
  expect(await placeOf()).toEqual(before)
  const json = { success: false, code: 'INTERNAL', message: 'Internal Server Error!', error: 'Internal Server Error!' }
  await page.route('**/api/announcements', (route) => route.fulfill({ status: 500, json }))
  await fillIn(page, newLink)
  await submit.click()
  await expect(page.getByRole('form').getByText('Internal Server Error!')).toBeVisible()
  expect(await placeOf()).toEqual(before)
  await page.setViewportSize({ width: 1280, height: 500 })
  await page.evaluate(() => scrollTo(0, 0))
  await expect(submit).toBeInViewport({ ratio: 1 })
  await field(page, 'Reward').focus()
  const footer = (await submit.boundingBox())!.y
  const focused = (await field(page, 'Reward').boundingBox())!
  expect(focused.y + focused.height, 'the focused field is not behind the buttons').toBeLessThan(footer)
})

/** Files of an announcement's form that are being decoded, or are no images (§5). */
import type { Page } from '@playwright/test'
import { add, banner, expectShown, fillIn, newDesc, newLink, season, stored, submitButton } from '#src/announcements.ts'
import { expect, field, test } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test.describe('while the browser decodes an image', () => {
  const release = (page: Page) => page.evaluate(() => (globalThis as unknown as { release: () => void }).release())

  test.beforeEach(async ({ page }) => {
    await page.addInitScript(() => {
      const isReleased = new Promise((resolve) => Object.assign(globalThis, { release: resolve }))
      globalThis.Image = class extends Image {
        override async decode() {
          await isReleased
          await super.decode()
        }
      }
    })
    await page.goto('/annoucement-form')
    await fillIn(page, newLink)
  })

  test('§5 submitting the form waits for it', async ({ page, server }) => {
    await field(page, 'Image').setInputFiles(banner)
    await field(page, 'Title').press('Enter')
    await expect(submitButton(page, 'Add Annoucement')).toBeDisabled()
    await release(page)
    await expect(page).toHaveURL('/annoucements')
    expect(await stored(server)).toMatchObject([{ image_name: banner.name }])
  })

  test('§5 submitting the form sends nothing if the image is damaged', async ({ page, server }) => {
    await field(page, 'Image').setInputFiles({ ...banner, buffer: banner.buffer.subarray(0, 40) })
    await field(page, 'Title').press('Enter')
    await expect(submitButton(page, 'Add Annoucement')).toBeDisabled()
    await release(page)
    await expect(field(page, 'Image')).toHaveAccessibleDescription(/banner\.png is damaged or incomplete\./)
    await expect(field(page, 'Image')).toBeFocused()
    await expect(submitButton(page, 'Add Annoucement')).toBeEnabled()
    expect(await stored(server)).toEqual([])
  })
})

test.describe('§5 a file that is not an image', () => {
  const buffer = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
  const evil = { name: 'evil.png', mimeType: 'image/png', buffer }
  const reason = /evil\.png must be a PNG, JPEG, WebP or GIF image/

  test('is refused when it is chosen, and nothing is saved until it is cleared', async ({ page, server }) => {
    await page.goto('/annoucement-form')
    await field(page, 'Icon').setInputFiles(evil)
    await expect(field(page, 'Icon')).toHaveAccessibleDescription(reason)
    await fillIn(page, newDesc)
    await submitButton(page, 'Add Annoucement').click()
    await expect(field(page, 'Icon')).toBeFocused()
    await expect(field(page, 'Icon')).toHaveAccessibleDescription(reason)
    expect(await stored(server)).toEqual([])
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await submitButton(page, 'Add Annoucement').click()
    await expect(page).toHaveURL('/annoucements')
    expect(await stored(server)).toMatchObject([{ title: 'Season 3', icon_key: null }])
  })

  test('holds up an update, also one of an active announcement, until it is replaced', async ({ page, server }) => {
    await add(server, { ...season, status: true })
    await page.goto('/annoucement-form-update?id=season')
    await field(page, 'Title').fill('Mine')
    await field(page, 'Image').setInputFiles(evil)
    await expect(field(page, 'Image')).toHaveAccessibleDescription(reason)
    for (const name of ['Update', 'Update and keep live', 'Update and activate']) {
      await page.getByRole('button', { name, exact: true }).click()
      await expect(field(page, 'Image')).toBeFocused()
      await field(page, 'Title').focus()
    }
    await expect(page.getByRole('alertdialog')).toHaveCount(0)
    expect(await stored(server)).toMatchObject([{ title: 'Season 2', version: 1 }])
    await field(page, 'Image').setInputFiles(banner)
    await expectShown(page.getByAltText('Image preview'))
    await submitButton(page, 'Update').click()
    await expect(page).toHaveURL('/annoucements')
    expect(await stored(server)).toMatchObject([{ title: 'Mine', image_name: banner.name }])
  })
})

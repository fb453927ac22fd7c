/** Checks every screen with axe (WCAG 2.2 A and AA), light and dark, at both sizes. No screen may scroll sideways. */
import { expectAccessible } from '#src/axe.ts'
import { tooFaint } from '#src/contrast.ts'
import { screens } from '#src/screens.ts'
import { resize, sizes } from '#src/sizes.ts'
import { expect, test } from '#src/test.ts'

test('WCAG 1.4.3: contrasts over gradients and pictures, which axe leaves undecided, are computed', async ({ page }) => {
  const picture = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>')
  await page.setContent(`<style>p { background: linear-gradient(#fff, #777) } p.dark { background: #fff url(data:image/svg+xml;base64,${picture.toString('base64')}) }</style>
    <p id="faint" style="color: #767676">Text</p> <p id="clear" style="color: #000">Text</p>
    <p id="lost" class="dark" style="color: #000">Text</p> <p id="found" class="dark" style="color: #fff">Text</p>`)
  const found = await tooFaint(page, ['#faint', '#clear', '#lost', '#found'])
  expect(found).toEqual([expect.stringMatching(/^#faint 1\.0\d:1$/), '#lost 1.00:1'])
})

test('a contrast that is too low in the dark theme alone is found', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/social-tasks')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await page.addStyleTag({ content: '[data-mantine-color-scheme=dark] h1 { color: #222 !important }' })
  await expect(expectAccessible(page)).rejects.toThrow('color-contrast')
})

for (const screen of screens) {
  test(`${screen.name}: axe finds nothing, in light and dark, at both sizes`, async ({ page, server, signIn }) => {
    await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
    if (screen.as !== 'guest') await signIn(screen.as)
    await page.goto(await screen.path(server))
    for (const viewport of sizes) {
      await resize(page, viewport)
      await expect(page.getByText(screen.ready).first()).toBeVisible()
      await expectAccessible(page)
    }
  })
}

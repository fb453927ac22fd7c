/** WCAG 2.2 A and AA by axe: every screen, light and dark, at both sizes; no screen scrolls sideways. */
import { expectAccessible, sizes } from '#src/axe.ts'
import { screens } from '#src/screens.ts'
import { expect, test } from '#src/test.ts'

for (const screen of screens) {
  test(`${screen.name}: axe finds nothing, in light and dark, at both sizes`, async ({ page, server, signIn }) => {
    await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
    if (screen.as !== 'guest') await signIn(screen.as)
    const path = await screen.path(server)
    for (const viewport of sizes) {
      await page.setViewportSize(viewport)
      await page.goto(path)
      await expect(page.getByText(screen.ready).first()).toBeVisible()
      await expectAccessible(page)
    }
  })
}

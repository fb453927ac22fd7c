/** WCAG 2.2 A and AA by axe: every screen, light and dark, at both sizes; no screen scrolls sideways. */
import { AxeBuilder } from '@axe-core/playwright'
import { screens } from '#src/screens.ts'
import { expect, test } from '#src/test.ts'

const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

for (const screen of screens) {
  test(`${screen.name}: axe finds nothing, in light and dark, at both sizes`, async ({ page, server, signIn }) => {
    await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
    if (screen.as !== 'guest') await signIn(screen.as)
    const path = await screen.path(server)
    for (const viewport of sizes) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.goto(path)
        await expect(page.getByText(screen.ready).first()).toBeVisible()
        const { violations } = await new AxeBuilder({ page })
          .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
          .analyze()
        const found = violations.map(
          ({ id, nodes }) => `${colorScheme} ${viewport.width}: ${id} ${nodes.map((node) => node.html).join(' | ')}`,
        )
        expect(found).toEqual([])
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        expect(overflow, `sideways at ${viewport.width}`).toBeLessThanOrEqual(0)
      }
    }
  })
}

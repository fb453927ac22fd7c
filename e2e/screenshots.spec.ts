/** `npm run screens` takes screenshots of every screen with the sample data, light and dark, into e2e/screens. Not part of the tests. */
import { resolve } from 'node:path'
import { screens } from '#src/screens.ts'
import { expect, test } from '#src/test.ts'

const FOLDER = resolve(import.meta.dirname, 'screens')
const sizes = [
  { width: 1440, height: 900 },
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
]

for (const screen of screens) {
  test(screen.name, async ({ page, server, signIn }) => {
    await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
    if (screen.as !== 'guest') await signIn(screen.as)
    const path = await screen.path(server)
    for (const viewport of sizes) {
      await page.setViewportSize(viewport)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ reducedMotion: 'reduce', colorScheme })
        await page.goto(path)
        await expect(page.getByText(screen.ready).first()).toBeVisible()
        await page.waitForLoadState('load')
        // Waits for parts that load later: rows, a player's fields, the preview.
        await expect(page.locator('[aria-busy=true], [class*=_waiting_]')).toHaveCount(0)
        const name = `${screen.name}-${viewport.width}x${viewport.height}${colorScheme === 'dark' ? '-dark' : ''}`
        await page.screenshot({ path: `${FOLDER}/${name}.png` })
      }
    }
  })
}

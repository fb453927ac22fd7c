/** What axe finds on a page as it is now, in light and dark. */
import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

export const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

/** WCAG 2.2 A and AA in both schemes, at the size the page has. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await new AxeBuilder({ page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
      .analyze()
    expect(violations.map(({ id, nodes }) => `${colorScheme}: ${id} ${nodes.map(({ html }) => html).join(' | ')}`)).toEqual([])
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(overflow, 'sideways').toBeLessThanOrEqual(0)
}

/** What axe finds on a page as it is now, in light and dark. */
import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { tooFaint } from './contrast.ts'
import { desktop, phone, resize } from './sizes.ts'

type Scheme = 'light' | 'dark'

/** WCAG 2.2 A and AA in both schemes, at the size the page has. */
export async function expectAccessible(page: Page, ...schemes: Scheme[]): Promise<void> {
  for (const colorScheme of schemes.length > 0 ? schemes : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme)
    await expect(page.locator('[class*=_waiting_]'), 'parts that load by themselves').toHaveCount(0)
    const { violations, incomplete } = await analyze(page)
    expect(violations.map(({ id, nodes }) => `${colorScheme}: ${id} ${nodes.map(({ html }) => html).join(' | ')}`)).toEqual([])
    const undecided = incomplete.filter(({ id }) => id === 'color-contrast').flatMap(({ nodes }) => nodes)
    expect(
      await tooFaint(
        page,
        undecided.map(({ target }) => String(target[0])),
      ),
      colorScheme,
    ).toEqual([])
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(overflow, 'sideways').toBeLessThanOrEqual(0)
}

/**
 * For a state of a screen that is otherwise looked at in all four ways: colours are the scheme's and the layout is the size's,
 * so each of both is seen with one scheme at each size.
 */
export async function expectStateAccessible(page: Page): Promise<void> {
  await resize(page, desktop)
  await expectAccessible(page, 'light')
  await resize(page, phone)
  await expectAccessible(page, 'dark')
}

/**
 * Five times faster than axe's defaults, which load axe into a blank page for each run, so that frames of other origins are
 * looked into, and describe every element without a fault: no page has frames, and only faults and doubts are asked for.
 */
async function analyze(page: Page) {
  const isLoaded = await page.evaluate(() => 'axe' in window)
  const axe = new AxeBuilder({ page, ...(isLoaded && { axeSource: 'undefined' }) })
  axe.setLegacyMode().options({
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    resultTypes: ['violations', 'incomplete'],
  })
  return axe.analyze()
}

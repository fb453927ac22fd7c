/** Checks a page with axe in the light and dark themes. */
import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'
import { tooFaint } from './contrast.ts'
import { desktop, phone, resize } from './sizes.ts'

type Scheme = 'light' | 'dark'

const RULES = { type: 'tag' as const, values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
/** The rules whose result depends on the theme. */
const COLOUR_RULES = { type: 'rule' as const, values: ['color-contrast', 'link-in-text-block'] }

/**
 * Expects that axe finds no violation of WCAG 2.2 A or AA in both themes (or the given ones), and no sideways scrolling. In the second theme
 * only the rules about colours can find something else.
 */
export async function expectAccessible(page: Page, ...schemes: Scheme[]): Promise<void> {
  for (const [index, colorScheme] of (schemes.length > 0 ? schemes : (['light', 'dark'] as const)).entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme)
    await expect(page.locator('[class*=_waiting_], [data-stale]'), 'parts that load by themselves').toHaveCount(0)
    const { violations, incomplete } = await analyze(page, index === 0 ? RULES : COLOUR_RULES)
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
 * Checks light on a desktop and dark on a phone. That is enough for one state of a screen that other tests check in all four
 * combinations: colours depend on the theme only, and the layout on the size only.
 */
export async function expectStateAccessible(page: Page): Promise<void> {
  await resize(page, desktop)
  await expectAccessible(page, 'light')
  await resize(page, phone)
  await expectAccessible(page, 'dark')
}

/**
 * Runs axe five times faster than with its defaults. By default it loads itself into a blank page for each run, to look into frames of
 * other origins, and also reports elements without faults. The pages here have no frames, and only faults and doubts matter.
 */
async function analyze(page: Page, runOnly: typeof RULES | typeof COLOUR_RULES) {
  const isLoaded = await page.evaluate(() => 'axe' in window)
  const axe = new AxeBuilder({ page, ...(isLoaded && { axeSource: 'undefined' }) })
  axe.setLegacyMode().options({ runOnly, resultTypes: ['violations', 'incomplete'] })
  return axe.analyze()
}

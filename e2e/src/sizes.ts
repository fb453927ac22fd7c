/** The window sizes of the tests, and a function that changes between them. */
import { expect, type Page } from '@playwright/test'

export const desktop = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }
export const sizes = [desktop, phone]

/** Menus that a page must not show at each size (shell.tsx). */
const otherMenu = {
  phone: '[class*=_sidebar_]',
  rail: '[class*=_burger_], [class*=_sidebar_]:not([data-rail])',
  desktop: '[class*=_burger_], [data-rail]',
}

/** Changes the size of an open page and waits until React has drawn the menu of that size. Before that, the page is a mixture of both. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size)
  const kind = size.width <= 62 * 16 ? 'phone' : size.width <= 75 * 16 ? 'rail' : 'desktop'
  await expect(page.locator(otherMenu[kind]), `the menu of another size than ${kind}`).toHaveCount(0)
}

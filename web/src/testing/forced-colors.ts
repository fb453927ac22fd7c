/** Emulates forced colours, in which the user's colours replace those of the page (WCAG 1.4.11). */
import { cdp } from 'vitest/browser'

export async function forceColors(value: 'active' | 'none'): Promise<void> {
  await cdp().send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] })
}

/** Setup of every component test: the app's style sheets, and a check that nothing is printed to the console. */
import { notifications } from '@mantine/notifications'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import '@fontsource-variable/inter/wght.css'
import '#src/ui/styles.css'
import { unmountAll } from './render.tsx'

const METHODS = ['debug', 'log', 'info', 'warn', 'error'] as const
let noise: string[] = []

beforeEach(() => {
  noise = []
  for (const method of METHODS)
    vi.spyOn(console, method).mockImplementation((...args: unknown[]) => void noise.push(`console.${method}: ${args.join(' ')}`))
})

afterEach(() => {
  notifications.clean()
  unmountAll()
  localStorage.clear()
  sessionStorage.clear()
  vi.restoreAllMocks()
  expect(noise, 'console noise; a test that expects output spies on it itself').toEqual([])
})

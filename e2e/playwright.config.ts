/** End-to-end tests: the built app and the real server in a real Chromium. Each worker has its own server and database. */
import { availableParallelism } from 'node:os'
import { defineConfig, devices } from '@playwright/test'

const chromium = process.env['CHROMIUM_PATH']

export default defineConfig({
  testDir: './tests',
  outputDir: './results',
  fullyParallel: false,
  // One more than the cores, for the tests of the game's bot: they mostly wait for its timeouts, so they also begin first.
  workers: availableParallelism() + 1,
  projects: [
    { name: 'game', testMatch: 'game.spec.ts' },
    { name: 'console', testIgnore: 'game.spec.ts' },
  ],
  retries: 0,
  forbidOnly: Boolean(process.env['CI']),
  // Far longer than any test needs, also on a busy machine: these only stop tests that hang, they do not check speed.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    ...devices['Desktop Chrome'],
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    // Drawing every frame of every transition costs much CPU time. The files of whole flows (keyboard, palette, task-order,
    // visit) and all component tests have the motion.
    contextOptions: { reducedMotion: 'reduce' },
    // Screenshots and snapshots at every step would double the time of the tests. After a failure there is a screenshot, the page's
    // elements as text and the list of steps; `--trace=on` records everything.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false, sources: false },
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(chromium !== undefined && { executablePath: chromium }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--process-per-site', // see src/shared-context.ts
        '--default-tile-width=2048', // one tile a page: many small ones take longer to draw in software
        '--default-tile-height=2048',
        '--js-flags=--no-opt,--no-maglev', // pages that live for seconds gain nothing from optimized code: a tenth less CPU time
      ],
    },
  },
})

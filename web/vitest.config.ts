/** The web app's tests, in the Chromium of the end-to-end tests, whose path `npm test` sets. */
import { playwright } from '@vitest/browser-playwright'
import { defineConfig, mergeConfig } from 'vitest/config'
import app from './vite.config.ts'

const chromium = process.env['CHROMIUM_PATH']

export default mergeConfig(
  app,
  defineConfig({
    // All packages are prepared before the first test: one that Vite finds in the middle of a run would reload the page under a test.
    optimizeDeps: { entries: ['src/**/*.{ts,tsx}'], include: ['react/jsx-dev-runtime', 'react-dom/client'] },
    test: {
      name: 'web',
      root: import.meta.dirname,
      include: ['src/**/*.test.{ts,tsx}'],
      setupFiles: ['src/testing/setup.ts'],
      // Far beyond what a test needs, also on a busy machine: they tell what hangs from what is slow, and nothing about speed.
      testTimeout: 60_000,
      expect: { poll: { timeout: 20_000 } },
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        viewport: { width: 1440, height: 900 },
        provider: playwright({
          contextOptions: { locale: 'en-US', timezoneId: 'UTC', permissions: ['clipboard-read', 'clipboard-write'] },
          launchOptions: {
            ...(chromium !== undefined && { executablePath: chromium }),
            args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
          },
        }),
        instances: [{ browser: 'chromium' }],
      },
    },
  }),
)

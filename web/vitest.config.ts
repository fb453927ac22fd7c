/** The web app's tests run in the Chromium of the end-to-end tests; `npm test` sets its path. */
import { playwright } from '@vitest/browser-playwright'
import { defineConfig, mergeConfig } from 'vitest/config'
import app from './vite.config.ts'

const chromium = process.env['CHROMIUM_PATH']

export default mergeConfig(
  app,
  defineConfig({
    // Pre-bundle all packages: Vite would reload the page in the middle of a test when it discovers a new one.
    optimizeDeps: { entries: ['src/**/*.{ts,tsx}'], include: ['react/jsx-dev-runtime', 'react-dom/client'] },
    test: {
      name: 'web',
      root: import.meta.dirname,
      include: ['src/**/*.test.{ts,tsx}'],
      setupFiles: ['src/testing/setup.ts'],
      // Far longer than any test takes, even on a busy machine. These limits only catch tests that hang.
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

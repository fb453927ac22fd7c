/** Playwright's configuration for `npm run screens`: the tests' server and browser, with the sample that the script prepared. */
import { defineConfig } from '@playwright/test'
import config from './playwright.config.ts'
import type { WorkerFixtures } from '#src/test.ts'

const sampleDirectory = process.env['SAMPLE_DIRECTORY']

export default defineConfig<object, WorkerFixtures>({
  ...config,
  testDir: '.',
  projects: [{ name: 'screens', testMatch: 'screenshots.spec.ts' }],
  use: { ...config.use, ...(sampleDirectory !== undefined && { sampleDirectory }) },
})

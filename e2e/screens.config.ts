/** The pictures of docs/screens, taken by the tests' own server and browser of the sample that `npm run screens` made. */
import { defineConfig } from '@playwright/test'
import config from './playwright.config.ts'
import type { WorkerFixtures } from './src/test.ts'

const sampleDirectory = process.env['SAMPLE_DIRECTORY']

export default defineConfig<object, WorkerFixtures>(config, {
  testDir: '.',
  testMatch: 'screenshots.spec.ts',
  use: { ...(sampleDirectory !== undefined && { sampleDirectory }) },
})

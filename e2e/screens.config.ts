/** The pictures of docs/screens, taken by the tests' own server and browser. */
import { defineConfig } from '@playwright/test'
import config from './playwright.config.ts'

export default defineConfig(config, { testDir: '.', testMatch: 'screenshots.spec.ts' })

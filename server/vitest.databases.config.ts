/** The tests on other databases, those of earlier versions and of other locales: `npm test -- databases`. */
import { configDefaults, defineConfig } from 'vitest/config'
import server from './vitest.config.ts'

export default defineConfig({
  test: {
    ...server.test,
    name: 'databases',
    include: ['test/databases/**/*.test.ts'],
    exclude: configDefaults.exclude,
    isolate: true, // each locale imports the same test files
  },
})

/** The root of all unit and integration tests: a project a workspace. Where one has its own vitest.config.ts, that is its project. */
import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const project = (name: string) =>
  existsSync(new URL(`${name}/vitest.config.ts`, import.meta.url))
    ? `${name}/vitest.config.ts`
    : { test: { name, root: name, include: ['**/*.test.{ts,tsx}'] } }

export default defineConfig({
  test: { projects: ['contract', 'server', 'web', 'scripts'].map(project) },
})

/** The root of all unit and integration tests: a project a workspace, named as its folder. Where one has its own vitest.config.ts, that is its project. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Far beyond what a test needs, also on a busy machine: they only end what hangs. */
const limits = { testTimeout: 120_000, hookTimeout: 120_000 }

const project = (folder: string) =>
  existsSync(new URL(`${folder}/vitest.config.ts`, import.meta.url))
    ? `${folder}/vitest.config.ts`
    : { test: { name: basename(folder), root: folder, include: ['**/*.test.{ts,tsx}'], ...limits } }

export default defineConfig({
  test: {
    projects: [
      ...['contract', 'server', 'web', 'scripts', 'examples/game'].map(project),
      'server/vitest.databases.config.ts',
      'server/vitest.faults.config.ts',
    ],
  },
})

/** Runs random stories and compares the console with a plain model after each step. fast-check shrinks a failure to a short story. */
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { reportFigure, rounds, seed } from '#test/size.ts'
import { shrinkingBriefly } from './shrinking.ts'
import { startModelConsole } from './model-console.ts'
import { stories, type Story } from './model-story.ts'

const TIMEOUT_MS = 5 * 60 * 60_000
const STEPS = 60

test(
  'security: model: after every step of a random story, the console agrees with a plain model of it',
  { timeout: TIMEOUT_MS },
  async () => {
    const numRuns = rounds(25, 2_000)
    const real = await startModelConsole()
    onTestFinished(() => real.stop())
    let steps = 0
    const run = shrinkingBriefly<Story>(async (story) => {
      const model = await real.reset()
      await fc.asyncModelRun(() => ({ model, real }), story)
      await real.check()
      steps += [...story].length
    })
    const property = fc.asyncProperty(stories(STEPS), run)
    const startedAt = performance.now()
    await fc.assert(property, { numRuns, seed })
    expect(steps).toBeGreaterThan(numRuns)
    reportFigure(`model: ${numRuns} stories of ${steps} steps in ${Math.round((performance.now() - startedAt) / 1000)} s`)
  },
)

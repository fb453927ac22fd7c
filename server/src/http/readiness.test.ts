/** Readiness: simultaneous requests, which anybody can send, cause one check. */
import { expect, test } from 'vitest'
import { createReadiness } from './readiness.ts'

test('security: simultaneous requests for /readyz share one check, and later ones check again', async () => {
  const checks: PromiseWithResolvers<boolean>[] = []
  const isReady = (): Promise<boolean> => {
    checks.push(Promise.withResolvers<boolean>())
    return checks.at(-1)!.promise
  }
  const readiness = createReadiness({
    database: { isReady, replica: undefined } as never,
    files: { isReady: async () => true } as never,
  })
  const asked = Array.from({ length: 20 }, () => readiness.ask())
  expect(checks).toHaveLength(1)
  checks[0]!.resolve(true)
  expect(new Set((await Promise.all(asked)).map((answer) => answer.isReady))).toEqual(new Set([true]))

  const later = readiness.ask()
  expect(checks).toHaveLength(2)
  checks[1]!.resolve(false)
  expect((await later).isReady).toBe(false)
})

test('a server that begins to stop during a check is not ready', async () => {
  const check = Promise.withResolvers<boolean>()
  const readiness = createReadiness({
    database: { isReady: () => check.promise, replica: undefined } as never,
    files: { isReady: async () => true } as never,
  })
  const asked = readiness.ask()
  void readiness.beginStop()
  check.resolve(true)
  expect((await asked).isReady).toBe(false)
})

/** Sends generated requests as every kind of client and checks each answer against the contract (security.md, Authorization and Input). */
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { reportFigure, rounds, seed } from '#test/size.ts'
import { checkAnswer, reach } from './answers.ts'
import { generatedRequest, requestsTo, routes } from './requests.ts'
import { shrinkingBriefly } from './shrinking.ts'
import { createWorld } from './world.ts'

const TIMEOUT_MS = 60 * 60_000
/** At most this many times, 500 more requests are sent to the calls that have not succeeded yet. */
const FURTHER_ROUNDS = 40
type GeneratedRequest = typeof generatedRequest extends fc.Arbitrary<infer Generated> ? Generated : never

test('security: input: every answer to any request of any client fits the contract', { timeout: TIMEOUT_MS }, async () => {
  const numRuns = rounds(10_000, 100_000)
  const world = await createWorld()
  onTestFinished(() => world.stop())
  const counts = { good: 0, refused: 0 }
  const codes = new Map<string, number>()
  const answered = new Set<string>()
  let slowest = { milliseconds: 0, call: '' }

  const ask = async (request: GeneratedRequest): Promise<void> => {
    const { sent, received, change } = await world.send(request)
    try {
      const code = checkAnswer(sent, request.principal, received)
      const reached = reach(sent)
      expect(received.status >= 300 ? change : undefined, 'a refused request changes nothing').toBeUndefined()
      if (received.status < 300 && reached.kind === 'call') answered.add(reached.route.name)
      counts[received.status < 300 ? 'good' : 'refused'] += 1
      if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1)
      if (received.milliseconds > slowest.milliseconds) slowest = { milliseconds: received.milliseconds, call: request.call }
    } catch (error) {
      const { method, path, headers, body } = sent
      const shown = { method, path: path.slice(0, 500), headers, body: typeof body === 'string' ? body.slice(0, 1000) : body }
      const answer = `${received.status} ${received.bytes.subarray(0, 1000).toString()}`
      throw new Error(`${(error as Error).message}\n${JSON.stringify(shown)}\n→ ${answer}`, { cause: error })
    }
  }
  const property = fc.asyncProperty(generatedRequest, shrinkingBriefly(ask))
  const startedAt = performance.now()
  await fc.assert(property, { numRuns, seed })
  reportFigure(
    `requests: ${numRuns} in ${Math.round((performance.now() - startedAt) / 1000)} s, ${counts.good} answered, ${counts.refused} refused; ` +
      `slowest ${Math.round(slowest.milliseconds)} ms (${slowest.call}); ${[...codes].map(([code, n]) => `${code} ${n}`).join(', ')}`,
  )
  const unanswered = (): string[] => routes.map(({ name }) => name).filter((name) => !answered.has(name))
  // World lets no backup begin, has no Telegram to send tests to, no mail server, no invitations, no sign-in service and no passkeys, and nobody can guess the code of a link or of an authenticator app.
  const expected = [
    'backups.cancel',
    'backups.start',
    'backups.verify',
    'broadcasts.test',
    'broadcasts.testAnnouncement',
    'emails.change',
    'emails.confirm',
    'emails.forgottenPassword',
    'invitations.accept',
    'invitations.resend',
    'messages.linkOperator',
    'oidc.beginLink',
    'oidc.beginSignIn',
    'oidc.link',
    'oidc.signIn',
    'oidc.unlink',
    'passkeys.add',
    'passkeys.options',
    'passkeys.remove',
    'passkeys.rename',
    'passkeys.secondFactor',
    'passkeys.secondFactorOptions',
    'passkeys.signIn',
    'passkeys.signInOptions',
    'passkeys.stepUp',
    'passkeys.stepUpOptions',
    'secondFactor.confirmTotp',
    'secondFactor.newRecoveryCodes',
    'secondFactor.prove',
    'secondFactor.removeTotp',
    'secondFactor.reset',
    'secondFactor.stepUp',
  ]
  // Some calls rarely succeed by chance, such as one that needs a matching kind and id. These get more requests.
  for (let round = 1; unanswered().length > expected.length && round <= FURTHER_ROUNDS; round += 1) {
    const wanted = requestsTo(unanswered().filter((name) => !expected.includes(name)))
    for (const request of fc.sample(wanted, { numRuns: 500, seed: seed + round }))
      if (unanswered().includes(request.call)) await ask(request)
  }
  expect(unanswered().toSorted(), 'calls that never succeeded').toEqual(expected)
})

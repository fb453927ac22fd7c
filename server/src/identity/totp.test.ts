import { expect, test } from 'vitest'
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts'

/** The secret of RFC 6238, appendix B, for SHA-1: the text 12345678901234567890. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
/** Its times in seconds, and the last six of the eight digits that it lists. */
const vectors = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const

test.each(vectors)('RFC 6238 appendix B: the code at %d s is …%s', (seconds, code) => {
  expect(stepOfCode(RFC_SECRET, code, new Date(seconds * 1000))).toBe(Math.floor(seconds / 30))
})

test.each([
  ['30 s slow', -30, true],
  ['30 s fast', 30, true],
  ['60 s slow', -60, false],
  ['60 s fast', 60, false],
])('security: a code of an app whose clock is %s is read as %s', (_, off, isRight) => {
  const [seconds, code] = vectors[3]
  const read = stepOfCode(RFC_SECRET, code, new Date((seconds - off) * 1000))
  expect(read).toBe(isRight ? Math.floor(seconds / 30) : undefined)
})

test.each(['', '00592', '0059244', 'abcdef', '００５９２４'])('security: %j is no code', (code) => {
  expect(stepOfCode(RFC_SECRET, code, new Date(1_234_567_890_000))).toBeUndefined()
})

test('a new secret has 160 bits, and its address names console and account', () => {
  const secret = newTotpSecret()
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(newTotpSecret()).not.toBe(secret)
  const uri = new URL(totpUri(secret, 'ada+1@gmail.com'))
  expect(uri.protocol + uri.host).toBe('otpauth:totp')
  expect(decodeURIComponent(uri.pathname)).toBe('/Arcade Console:ada+1@gmail.com')
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    issuer: 'Arcade Console',
    secret,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})

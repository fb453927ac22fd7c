/** Races for one second factor on two servers (security.md, Second factor). */
import { expect, test } from 'vitest'
import { beginPendingSignIn } from '#src/identity/pending-sign-ins.ts'
import { setUpTotp, totpCode } from '#test/second-factor.ts'
import { twoServers } from '#test/two-servers.ts'

test('security: several servers: of 20 simultaneous uses of one code for the second factor exactly one counts', async () => {
  const apps = await twoServers()
  const ada = await apps[0].signUp('owner')
  const { secret, recoveryCodes } = await setUpTotp(apps[0], ada)
  for (const code of [totpCode(secret), recoveryCodes[0]!]) {
    const cookies = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const token = await beginPendingSignIn(apps[0].database.db, { userId: ada.id, passwordHash: null })
        return `session=${token}`
      }),
    )
    const answers = await Promise.all(
      cookies.map((cookie, index) => apps[index % 2]!.guest.call('POST', '/api/session/second-factor', { code }, { cookie })),
    )
    const codes = answers.map(({ status, body }) => (status === 200 ? 'signed in' : body.code))
    expect(codes.filter((one) => one === 'signed in')).toHaveLength(1)
    expect(codes.filter((one) => one === 'WRONG_CODE')).toHaveLength(19)
  }
})

test('security: several servers: of 20 simultaneous second steps of one sign-in, at most five codes are tried and one counts', async () => {
  const apps = await twoServers()
  const ada = await apps[0].signUp('owner')
  const { recoveryCodes } = await setUpTotp(apps[0], ada)
  const cookie = `session=${await beginPendingSignIn(apps[0].database.db, { userId: ada.id, passwordHash: null })}`
  const codes = [...recoveryCodes, ...recoveryCodes]
  const answers = await Promise.all(
    codes.map((code, index) => apps[index % 2]!.guest.call('POST', '/api/session/second-factor', { code }, { cookie })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect((await ada.call('GET', '/api/account/second-factor')).body.recoveryCodesLeft, 'no other code was lost').toBe(9)
})

/** The site that passkeys belong to, and hostile responses (security.md, Passkeys). */
import { describe, expect, test } from 'vitest'
import { createCredential, answerWith } from '#test/authenticator.ts'
import { addPasskey, opening, optionsOf, PATH, refused, signIn, signInOptions } from '#test/passkeys.ts'
import { type Client, testApp } from '#test/test-app.ts'

describe('the site that passkeys belong to', () => {
  const ask = async (publicOrigin: string | undefined, host: string) => {
    const app = await testApp({ ...(publicOrigin !== undefined && { publicOrigin }) })
    const answer = await app.nodeFetch(
      new Request(`http://${host}/api/session/passkey-options`, { method: 'POST', headers: { host } }),
    )
    const body = (await answer.json()) as { code?: string; options?: { rpId: string } }
    return body.options?.rpId ?? body.code
  }

  test.each([
    ['https://console.example.com', '10.0.0.1:3000', 'console.example.com'],
    ['https://console.example.com:8443', 'other.example', 'console.example.com'],
    ['http://localhost:3000', 'localhost:3000', 'localhost'],
    ['http://console.example.com', 'console.example.com', 'PASSKEYS_OFF'],
    ['https://10.0.0.1', '10.0.0.1', 'PASSKEYS_OFF'],
    ['https://[::1]', '[::1]', 'PASSKEYS_OFF'],
    [undefined, 'localhost:3000', 'localhost'],
    [undefined, 'console.localhost', 'console.localhost'],
    [undefined, '127.0.0.1:3000', 'PASSKEYS_OFF'],
    [undefined, '[::1]:3000', 'PASSKEYS_OFF'],
    [undefined, 'console.example.com', 'UNKNOWN_HOST'],
  ])('PUBLIC_URL %s, asked as %s: %s', async (publicOrigin, host, expected) => {
    expect(await ask(publicOrigin, host)).toBe(expected)
  })

  test('with PUBLIC_URL only its own origin is accepted', async () => {
    const { app, admin: overHttp } = await opening({ publicOrigin: 'https://console.example.com' })
    const cookie = `__Host-${overHttp.headers['cookie']}`
    const admin: Client = { ...overHttp, call: (method, path, body) => overHttp.call(method, path, body, { cookie }) }
    const own = { origin: 'https://console.example.com', rpId: 'console.example.com' }
    expect((await addPasskey(admin, { ...own, origin: 'http://console.example.com' })).answer).toMatchObject(refused)
    const { passkey, answer } = await addPasskey(admin, own)
    expect(answer.status).toBe(200)
    expect((await signIn(app, passkey, own)).status).toBe(200)
    expect(await signIn(app, passkey, { ...own, origin: 'https://evil.example.com' })).toMatchObject(refused)
  })
})

describe('security: hostile responses', () => {
  test('huge and malformed ones get 400 or are refused, and never fail the server', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    const good = answerWith(passkey, await signInOptions(app))
    const odd = ['', '!', 'A', 'A'.repeat(5), 'A'.repeat(60_000), '_'.repeat(4000), null, 1, {}]
    for (const field of Object.keys(good.response)) {
      for (const value of odd) {
        const response = { ...answerWith(passkey, await signInOptions(app)) }
        const answer = await app.guest.call('POST', '/api/session/passkey', {
          response: { ...response, response: { ...response.response, [field]: value } },
        })
        // A response may lack the user's handle.
        expect(
          [400, 403, ...(field === 'userHandle' && value === null ? [200] : [])],
          `${field} ${JSON.stringify(value)}`,
        ).toContain(answer.status)
      }
    }
    const nested = Buffer.alloc(12_000, 0x81).toString('base64url') // CBOR: lists in lists
    const { response } = createCredential(await optionsOf(admin))
    const bomb = { ...response, response: { ...response.response, attestationObject: nested } }
    expect(await admin.call('POST', PATH, { name: 'Bomb', response: bomb })).toMatchObject(refused)
  })
})

/** Hosts: a server without PUBLIC_URL answers only for names that no other site can own. */
import { expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/test-app.ts'
import { hostCheck } from './host.ts'

test.each([
  'localhost',
  'LOCALHOST:3000',
  'localhost.',
  'localhost.:3000',
  'console.localhost:1',
  '127.0.0.1',
  '192.0.2.7:80',
  '[::1]:3000',
  '[2001:db8::1]',
  'Desk:3000',
  undefined,
])('security: without PUBLIC_URL the host %s is answered for', (header) => {
  expect(hostCheck('desk')(header)).toBe(true)
})

test.each([
  'evil.example',
  'evil.example:3000',
  'localhost.evil.example',
  'evillocalhost',
  '127.0.0.1.evil.example',
  '[evil.example]',
  '[127.0.0.1]',
  '::1',
  'desk.example',
  'evil.example.',
  'localhost..',
  '',
  'a@localhost',
  'localhost:x',
])('security: without PUBLIC_URL the host %j is refused', (header) => {
  const isAnswered = hostCheck('desk')
  expect([isAnswered(header), isAnswered('localhost'), isAnswered(header)]).toEqual([false, true, false])
})

async function answerTo(app: TestApp, path: string, host: string): Promise<[number, string | undefined]> {
  const answer = await app.fetch(path, { headers: { host } })
  return [answer.status, (JSON.parse(await answer.text()) as { message?: string }).message]
}

test('security: a page whose name leads to this server cannot act as a guest of it', async () => {
  const app = await testApp()
  for (const path of ['/api/session', '/', '/api/openapi.json', '/api/none'])
    expect(await answerTo(app, path, 'evil.example:3000'), path).toEqual([
      421,
      'This server does not answer for this host name. If it is the console’s own, set PUBLIC_URL to the URL that browsers use.',
    ])
  const origin = 'http://evil.example:3000'
  const registration = { fname: 'A', lname: 'B', email: 'a@gmail.com', password: 'secret1', confirmPassword: 'secret1' }
  const posted = await app.guest.call('POST', '/api/register', registration, { origin, host: 'evil.example:3000' })
  expect([posted.status, posted.body.code]).toEqual([421, 'UNKNOWN_HOST'])
  expect((await answerTo(app, '/api/session', '127.0.0.1:3000'))[0]).toBe(200)
})

test('security: load balancers ask for /healthz and /readyz under any name', async () => {
  const app = await testApp()
  for (const path of ['/healthz', '/readyz', '/readyz?from=balancer'])
    expect((await answerTo(app, path, 'balancer.example'))[0], path).toBe(200)
})

test('with PUBLIC_URL every host is answered for, because only its origin may change something', async () => {
  const app = await testApp({ publicOrigin: 'https://console.example.org' })
  expect((await answerTo(app, '/api/session', 'console.internal'))[0]).toBe(200)
})

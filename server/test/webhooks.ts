/** Webhooks in tests: an HTTP server that receives them, and deliveries that the test sends itself instead of once a second. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { createDeliveries, type Deliveries } from '#src/webhooks/deliveries.ts'
import { secretKey } from '#src/webhooks/secret-key.ts'
import { type Client, testApp, type TestApp } from './test-app.ts'

export const LOOPBACK = ['127.0.0.0/8']
export const silent = pino({ level: 'silent' })

export interface Received {
  headers: http.IncomingHttpHeaders
  body: string
}

/** Starts an HTTP server that keeps the requests it receives. `answer` sends its response. Closed after the test. */
export async function endpoint(
  answer: (response: http.ServerResponse) => void = (response) => response.end(),
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const server = http.createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      answer(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=1`, received }
}

export interface Opening {
  app: TestApp
  admin: Client
  deliveries: Deliveries
}

/**
 * Creates an app and its deliveries. The app lets webhooks name any network; deliveries reach only `options.networks`, loopback by
 * default. So tests can cover a name whose address changes after the webhook was saved.
 */
export async function opening(options: { networks?: string[]; timeoutMs?: number } = {}): Promise<Opening> {
  const app = await testApp({ webhookNetworks: ['0.0.0.0/0', '::/0'] })
  const { database } = app
  const deliveries = createDeliveries({ database, key: secretKey('of the tests'), networks: LOOPBACK, log: silent, ...options })
  return { app, admin: await app.signUp('admin'), deliveries }
}

export async function add(
  { admin }: Opening,
  url: string,
  events = ['announcement.activated'],
): Promise<{ id: string; secret: string }> {
  const { status, body } = await admin.call('POST', '/api/webhooks', { url, events })
  expect(status).toBe(200)
  return body as { id: string; secret: string }
}

export async function sendTest({ admin, deliveries }: Opening, id: string) {
  expect((await admin.call('POST', `/api/webhooks/${id}/test`, {})).status).toBe(200)
  await deliveries.sendDue()
  return last(admin, id)
}

export async function last(admin: Client, id: string) {
  const { body } = await admin.call('GET', `/api/webhooks/${id}/deliveries`)
  return body.deliveries[0]
}

/** What a receiver of webhooks may answer, on real connections. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { localhostCertificate, localhostKey } from '#test/localhost-certificate.ts'
import { post } from './post.ts'

/** Posts to a receiver. @param answer gets the connection when the request has come */
async function postTo(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return post({ url, headers: {}, body: '{}' }, { networks: ['127.0.0.0/8'], timeoutMs: 60_000 })
}

test('an interim answer before the final one is passed over', async () => {
  const status = postTo((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
    socket.end('HTTP/1.1 204 No Content\r\n\r\n')
  })
  expect(await status).toBe(204)
})

test('security: endless interim answers end the attempt, and the connection is closed', async () => {
  const closed = Promise.withResolvers<void>()
  const attempt = postTo((socket) => {
    socket.on('close', () => closed.resolve())
    const write = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 102 Processing\r\n\r\n'));
    }
    socket.on('drain', write)
    write()
  })
  await expect(attempt).rejects.toThrow('More than 4 interim answers came instead of a final one')
  await closed.promise
})

test('security: of a chunk with thousands of interim answers, only the first are parsed', async () => {
  let parsed = 0
  const countParsed = (message: unknown): void => {
    const { request } = message as { request: ClientRequest }
    request.on('information', () => (parsed += 1))
  }
  subscribe('http.client.request.start', countParsed)
  onTestFinished(() => void unsubscribe('http.client.request.start', countParsed))
  const chunk = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000)
  await expect(postTo((socket) => void socket.write(chunk))).rejects.toThrow('More than 4 interim answers')
  expect(parsed).toBeLessThan(100)
})

test('security: over TLS a message goes only to a receiver whose certificate is trusted and names it', async () => {
  const received: unknown[] = []
  const server = createHttpsServer({ key: localhostKey, cert: localhostCertificate }, (request, response) => {
    void json(request).then((body) => {
      received.push(body)
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const postToHost = (host: string): Promise<number> =>
    post(
      { url: `https://${host}:${port}/`, headers: {}, body: JSON.stringify({ to: host }) },
      { networks: ['127.0.0.0/8'], timeoutMs: 60_000 },
    )
  await expect(postToHost('localhost')).rejects.toThrow('Not reached: DEPTH_ZERO_SELF_SIGNED_CERT')
  trust(localhostCertificate)
  expect(await postToHost('localhost')).toBe(204)
  await expect(postToHost('127.0.0.1')).rejects.toThrow('Not reached: ERR_TLS_CERT_ALTNAME_INVALID')
  expect(received).toEqual([{ to: 'localhost' }])
})

/** Trusts a certificate until the test ends. */
function trust(certificate: string): void {
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, certificate])
  onTestFinished(() => setDefaultCACertificates(trusted))
}

/** What a receiver of webhooks may answer, on real connections. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, isIP, type Socket } from 'node:net'
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

test.each([
  ['interim answers', '', 'HTTP/1.1 102 Processing\r\n\r\n', 'More than 4 interim answers came instead of a final one'],
  ['blank lines', '', '\r\n'.repeat(1000), 'More than 80 kB came before the end of the headers'],
  ['headers', 'HTTP/1.1 200 OK\r\n', 'A: b\r\n'.repeat(1000), 'Not reached: HPE_HEADER_OVERFLOW'],
])('security: endless %s end the attempt, and the connection is closed', async (_, start, repeated, reason) => {
  const closed = Promise.withResolvers<void>()
  const attempt = postTo((socket) => {
    socket.on('close', () => closed.resolve())
    const write = (): void => {
      while (!socket.destroyed && socket.write(repeated));
    }
    socket.on('drain', write)
    socket.write(start)
    write()
  })
  await expect(attempt).rejects.toThrow(reason)
  await closed.promise
})

test('security: an answer that switches protocols ends the attempt at once', async () => {
  const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n'
  await expect(postTo((socket) => void socket.write(answer))).rejects.toThrow('It asked to switch protocols (101)')
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

/** Starts a receiver that answers 204 and counts connections. `answer` may do something else with a connection. */
async function startReceiver({ port = 0, host = '127.0.0.1', answer = (socket: Socket) => void socket.end(NO_CONTENT) } = {}) {
  const receiver = { port, connections: 0, bodies: 0 }
  const server = createServer((socket) => {
    receiver.connections += 1
    socket.on('error', () => {})
    socket.once('data', () => {
      receiver.bodies += 1
      answer(socket)
    })
  })
  server.listen(port, host)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  receiver.port = (server.address() as AddressInfo).port
  return receiver
}

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n'

/** Posts to a host name that has these addresses. */
function postToName(url: string, addresses: string[], { timeoutMs = 60_000, networks = ['127.0.0.0/8', '::1'] } = {}) {
  const addressesOf = (): Promise<LookupAddress[]> =>
    Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })))
  return post({ url, headers: {}, body: '{}' }, { networks, timeoutMs, addressesOf })
}

test('if an address does not accept connections, the next one gets the message', async () => {
  const { port } = await startReceiver()
  expect(await postToName(`http://hook.test:${port}/`, ['::1', '127.0.0.2', '127.0.0.1'])).toBe(204)
  await expect(postToName(`http://hook.test:${port}/`, ['127.0.0.2', '127.0.0.3'])).rejects.toThrow('Not reached: ECONNREFUSED')
})

test('over TLS as well, where the certificate must name the host', async () => {
  trust(localhostCertificate)
  const server = createHttpsServer({ key: localhostKey, cert: localhostCertificate }, (request, response) => {
    void json(request).then(() => response.writeHead(204).end())
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await postToName(`https://localhost:${port}/`, ['::1', '127.0.0.2', '127.0.0.1'])).toBe(204)
  await expect(postToName(`https://hook.test:${port}/`, ['127.0.0.2', '127.0.0.1'])).rejects.toThrow(
    'Not reached: ERR_TLS_CERT_ALTNAME_INVALID',
  )
})

test('an address that accepted the connection is the only one that gets the message, even if it does not answer', async () => {
  const first = await startReceiver({ host: '127.0.0.2', answer: (socket) => void socket.destroy() })
  const second = await startReceiver({ port: first.port })
  const url = `http://hook.test:${first.port}/`
  await expect(postToName(url, ['127.0.0.2', '127.0.0.1'])).rejects.toThrow('Not reached')
  expect([first.bodies, second.connections]).toEqual([1, 0])
})

test('security: nothing is connected to if one of the addresses is refused; plain http reaches only allowed addresses', async () => {
  const receiver = await startReceiver()
  const networks = ['127.0.0.1']
  const url = `http://hook.test:${receiver.port}/`
  await expect(postToName(url, ['127.0.0.1', '127.0.0.2'], { networks })).rejects.toThrow('(127.0.0.2) is not a public address')
  expect(receiver.connections).toBe(0)
  await expect(postToName(url, ['203.0.114.1'], { networks })).rejects.toThrow('Address must begin with https://')
  expect(await postToName(url, ['203.0.114.1', '127.0.0.1'], { networks })).toBe(204)
})

/** Trusts a certificate until the test ends. */
function trust(certificate: string): void {
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, certificate])
  onTestFinished(() => setDefaultCACertificates(trusted))
}

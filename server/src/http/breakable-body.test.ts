/** Streamed answers over a real socket whose source fails while the reader is behind. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Server, ServerResponse } from 'node:http'
import { serve } from '@hono/node-server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { breakableBody } from './breakable-body.ts'

test('security: a failure breaks off the answer of a slow reader instead of ending it properly', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {}) // @hono/node-server prints the cause
  let fail: (error: Error) => void = () => {}
  let outgoing: ServerResponse | undefined
  const source = () =>
    new ReadableStream<Uint8Array>({
      start: (controller) => void (fail = (error) => controller.error(error)),
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
    })
  const server = serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (_, env) => {
      outgoing = env.outgoing as ServerResponse
      return new Response(breakableBody(source(), env.outgoing))
    },
  }) as Server
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    vi.restoreAllMocks()
  })
  if (!server.listening) await once(server, 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const reader = response.body!.getReader()
  await reader.read()
  await expect.poll(() => outgoing?.writableNeedDrain).toBe(true)
  fail(new Error('the source failed'))
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow(/terminated|other side closed/)
})

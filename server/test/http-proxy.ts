/**
 * A reverse proxy as people put one before several servers: it asks each whether it is ready, gives requests to those in turn, keeps
 * connections open, and repeats what no server has begun (a refused connection), or what only reads (a connection that broke).
 */
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

export interface HttpProxy {
  url: string
  /** Requests whose server went before it answered, and that were not repeated: whoever asked got a 502. */
  lost: number
  /** Requests that were given to another server. */
  repeated: number
  /** Has this address from now on instead of another one. It gets requests once it is ready. */
  replace(old: string | undefined, next: string): void
  /** How many servers are ready. */
  ready(): number
  stop(): Promise<void>
}

const CHECK_EVERY_MS = 100
const CHECK_TIMEOUT_MS = 2_000
/** One that is slow to answer a check is not gone. */
const SILENT_CHECKS = 3
const SAFE = new Set(['GET', 'HEAD'])

interface Target {
  url: string
  isReady: boolean
  agent: Agent
}

export async function startHttpProxy(): Promise<HttpProxy> {
  const targets = new Map<string, Target>()
  let turn = 0
  let isOver = false
  const proxy: HttpProxy = {
    url: '',
    lost: 0,
    repeated: 0,
    replace(old, next) {
      targets.get(old ?? '')?.agent.destroy()
      targets.delete(old ?? '')
      const target = { url: next, isReady: false, agent: new Agent({ keepAlive: true }) }
      targets.set(next, target)
      void watch(target)
    },
    ready: () => [...targets.values()].filter(({ isReady }) => isReady).length,
    async stop() {
      isOver = true
      for (const { agent } of targets.values()) agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function watch(target: Target): Promise<void> {
    let silent = 0
    while (!isOver && targets.has(target.url)) {
      const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS)
      const answer = await fetch(`${target.url}/readyz`, { signal }).catch(() => undefined)
      await answer?.body?.cancel()
      silent = signal.aborted ? silent + 1 : 0
      if (silent === 0) target.isReady = answer?.status === 200
      else if (silent >= SILENT_CHECKS) target.isReady = false
      await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS))
    }
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const untried = new Set([...targets.values()].filter(({ isReady }) => isReady))
    for (;;) {
      const target = [...untried][(turn += 1) % untried.size]
      if (!target) break
      untried.delete(target)
      try {
        const answer = await ask(target, request, body)
        response.writeHead(answer.statusCode!, withoutHop(answer.headers))
        response.on('close', () => answer.destroy())
        await pipeline(answer, response)
        return
      } catch (error) {
        if (response.headersSent) {
          response.destroy() // a file that is cut off must not look whole
          return
        }
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' && !SAFE.has(request.method!)) break
        proxy.repeated += 1
      }
    }
    proxy.lost += 1
    response.writeHead(502).end('{}')
  }

  const server = createServer((request, response) => void forward(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

function ask({ url, agent }: Target, { method, url: path, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { ...withoutHop(headers), 'content-length': body.length } }
    send(`${url}${path}`, options, resolve).on('error', reject).end(body)
  })
}

/** Headers of one connection are no other one's (RFC 9110, 7.6.1). */
function withoutHop<Headers extends NodeJS.Dict<string | string[]>>(headers: Headers): Headers {
  const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = headers
  return rest as Headers
}

/**
 * A typical reverse proxy in front of several servers. It polls /readyz, sends requests to the ready servers in turn and keeps
 * connections open. It sends a request again to another server if the connection was refused, or if it broke and the request only reads.
 */
import { Agent, createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

export interface HttpProxy {
  url: string
  /** Number of requests that got 502: their server was gone before it answered, and they could not be sent again. */
  lost: number
  /** Number of requests that were sent again to another server. */
  repeated: number
  /** Removes the server `old`, if any, and adds `next`, which gets requests once it is ready. */
  replace(old: string | undefined, next: string): void
  /** Returns how many servers are ready. */
  ready(): number
  stop(): Promise<void>
}

const CHECK_EVERY_MS = 100
const CHECK_TIMEOUT_MS = 2_000
/** Checks in a row that must time out before a server counts as not ready: a server that is slow once is not gone. */
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

  /** Returns the ready servers, beginning with the next in turn, and then the others: with no ready server, proxies try them all. */
  function inTurn(): Target[] {
    const all = [...targets.values()]
    const ready = all.filter(({ isReady }) => isReady)
    turn += 1
    const first = ready.length === 0 ? 0 : turn % ready.length
    return [...ready.slice(first), ...ready.slice(0, first), ...all.filter(({ isReady }) => !isReady)]
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    for (const target of inTurn()) {
      try {
        const answer = await ask(target, request, body)
        response.writeHead(answer.statusCode!, withoutHop(answer.headers))
        response.on('close', () => answer.destroy())
        await pipeline(answer, response)
        return
      } catch (error) {
        if (response.headersSent) {
          response.destroy() // ends the connection too, so that a truncated file does not look complete
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

/** Removes the headers that belong to one connection and must not be forwarded (RFC 9110, 7.6.1). */
function withoutHop<Headers extends NodeJS.Dict<string | string[]>>(headers: Headers): Headers {
  const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = headers
  return rest as Headers
}

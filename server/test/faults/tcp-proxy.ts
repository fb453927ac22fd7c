/** A TCP proxy to one port that can be slow, silent or gone, in front of the server's database or file store. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

/**
 * `passes`: forwards at full speed. `slow`: forwards some 50 kB/s. `silent`: accepts and keeps connections but forwards nothing.
 * `resets`: resets every connection at once. `gone`: does not listen.
 */
export type NetworkState = 'passes' | 'slow' | 'silent' | 'resets' | 'gone'

export interface TcpProxy {
  port: number
  /** Changes the state for open and new connections. */
  become(state: NetworkState): Promise<void>
}

const SLOW_PIECE_BYTES = 512
const SLOW_PAUSE_MS = 10

/** Starts a proxy to a port on this machine. It stops when the test ends. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let state: NetworkState = 'passes'
  let change = Promise.withResolvers<void>()
  let server: Server | undefined
  let port = 0

  const watch = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => {}) // either end may be gone at any time
    return socket.on('close', () => sockets.delete(socket))
  }
  const isMoving = async (): Promise<void> => {
    while (state === 'silent') await change.promise
  }
  const forward = async (from: Socket, to: Socket): Promise<void> => {
    try {
      for await (const bytes of from as AsyncIterable<Buffer>) {
        for (let at = 0; at < bytes.length;) {
          await isMoving()
          const piece = bytes.subarray(at, state === 'slow' ? at + SLOW_PIECE_BYTES : undefined)
          if (state === 'slow') await pause(SLOW_PAUSE_MS)
          if (!to.write(piece)) await Promise.race([new Promise((resolve) => to.once('drain', resolve)), closed(to)])
          at += piece.length
        }
      }
      to.end()
    } catch {
      to.destroy()
    }
  }
  const listen = (): Promise<void> => {
    server = createServer((client) => {
      watch(client)
      if (state === 'resets') {
        client.resetAndDestroy()
        return
      }
      const target = watch(connect(targetPort, '127.0.0.1'))
      void forward(client, target)
      void forward(target, client)
    })
    return new Promise((resolve, reject) => {
      server!.once('error', reject).listen(port, '127.0.0.1', () => {
        port = (server!.address() as AddressInfo).port
        resolve()
      })
    })
  }
  const drop = (): void => sockets.forEach((socket) => socket.resetAndDestroy())

  await listen()
  onTestFinished(() => {
    state = 'gone'
    change.resolve()
    server?.close()
    drop()
  })
  return {
    port,
    async become(next) {
      if (state === 'gone' && next !== 'gone') await listen()
      state = next
      change.resolve()
      change = Promise.withResolvers()
      if (next === 'gone') server?.close()
      if (next === 'gone' || next === 'resets') drop()
    },
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())))
}

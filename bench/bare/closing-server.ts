/**
 * The bare limit of many requests on one connection: node:http answers one request at a time and closes a connection that sends another
 * one before. Node reads all requests of a chunk of 64 kB, also those after the one at which the connection is closed.
 */
import http from 'node:http'
import type { Socket } from 'node:net'
import { listen } from './listening.ts'

const answering = new WeakSet<Socket>()

listen(
  http.createServer(({ socket }, response) => {
    if (answering.has(socket)) {
      socket.destroy()
      return
    }
    answering.add(socket)
    response.once('close', () => answering.delete(socket))
    setImmediate(() => response.writeHead(200, { 'content-length': 2 }).end('ok'))
  }),
)

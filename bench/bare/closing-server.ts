/**
 * The bare limit of many requests on one connection: node:http answers one request at a time and closes a connection that sends another
 * one before. Node reads all requests of a chunk of 64 kB, also those after the one at which the connection is closed.
 */
import http from 'node:http'
import type { Socket } from 'node:net'

const answering = new WeakSet<Socket>()

const server = http.createServer(({ socket }, response) => {
  if (answering.has(socket)) {
    socket.destroy()
    return
  }
  answering.add(socket)
  response.once('close', () => answering.delete(socket))
  setImmediate(() => response.writeHead(200, { 'content-length': 2 }).end('ok'))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) console.log(`ready at http://127.0.0.1:${address.port}`)
})
process.on('SIGTERM', () => process.exit(0))

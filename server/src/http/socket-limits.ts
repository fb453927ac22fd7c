/** How long a socket may take: to send a request, to be idle, and to take nothing of an answer. */
import type { Server } from 'node:http'

/** As long as a slow reader of a spreadsheet may take between two pieces (sheets/spool.ts); streams of events send something earlier. */
const STUCK_MS = 31 * 60_000

/** Sets the limits of a server's sockets. @param stuckMs after so long without a byte in either direction a socket is closed */
export function limitSockets(server: Server, stuckMs = STUCK_MS): void {
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  server.keepAliveTimeout = 65_000 // longer than the usual 60 s of a load balancer before it
  server.timeout = stuckMs
}

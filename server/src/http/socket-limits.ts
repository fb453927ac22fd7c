/** Limits how long a socket may take to send a request, be idle, or read nothing of an answer. */
import type { Server } from 'node:http'

/** Milliseconds without a byte: a little more than a slow reader of a spreadsheet may pause (sheets/spool.ts). Event streams send more often. */
const STUCK_MS = 31 * 60_000

/** Sets the limits of a server's sockets. @param stuckMs milliseconds without a byte in either direction after which a socket is closed */
export function limitSockets(server: Server, stuckMs = STUCK_MS): void {
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  server.keepAliveTimeout = 65_000 // longer than the usual 60 s of a load balancer before it
  server.timeout = stuckMs
}

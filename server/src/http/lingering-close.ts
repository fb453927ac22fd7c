/**
 * Closes a connection whose request was refused before it was read. If it were closed while the client is sending, the client would never
 * see the answer (RFC 9112, 9.6). The rest of the request is therefore discarded until it ends, or until a limit of time or bytes.
 */
import type { IncomingMessage } from 'node:http'

const LINGER_MS = 10_000
const LINGER_BYTES = 64 * 1024 * 1024

/** Arranges the lingering close. Call it before the answer, which says `Connection: close`. */
export function closeLingering(request: IncomingMessage): void {
  const { socket } = request
  const close = socket.destroySoon.bind(socket)
  // Node calls this function when the answer has been sent.
  socket.destroySoon = () => {
    socket.destroySoon = () => {}
    if (request.complete) return close()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(timer))
    const mostRead = socket.bytesRead + LINGER_BYTES
    request.removeAllListeners('data') // the rest is discarded
    request.on('data', () => socket.bytesRead > mostRead && socket.destroy())
    request.once('end', close)
    request.resume()
  }
}

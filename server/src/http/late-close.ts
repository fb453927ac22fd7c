/**
 * Closes a connection whose request was refused before it was read. One that is closed while somebody still sends breaks on them, and they
 * never see the answer (RFC 9112, 9.6): so what still arrives is thrown away until its end, or some time or too much of it has passed.
 */
import type { IncomingMessage } from 'node:http'

const LATE_MS = 10_000
const LATE_BYTES = 64 * 1024 * 1024

/** To be called before the answer, which says `Connection: close`. */
export function closeAfterRest(request: IncomingMessage): void {
  const { socket } = request
  const close = socket.destroySoon.bind(socket)
  // Node calls it once the answer is sent.
  socket.destroySoon = () => {
    socket.destroySoon = () => {}
    if (request.complete) return close()
    const timer = setTimeout(() => socket.destroy(), LATE_MS)
    socket.once('close', () => clearTimeout(timer))
    const mostRead = socket.bytesRead + LATE_BYTES
    request.removeAllListeners('data') // nobody keeps it
    request.on('data', () => socket.bytesRead > mostRead && socket.destroy())
    request.once('end', close)
    request.resume()
  }
}

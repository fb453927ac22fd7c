/** The end of each bare server: it listens on a free port, prints its address for `startProcess`, and ends on SIGTERM. */
import type { Server } from 'node:http'

export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object' && address) console.log(`ready at http://127.0.0.1:${address.port}`)
  })
  process.on('SIGTERM', () => process.exit(0))
}

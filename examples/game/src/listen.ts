/** Serves an app on this machine alone: what the world may reach stands behind a proxy that speaks https. */
import { serve } from '@hono/node-server'
import type { Hono } from 'hono'

/** Another port is taken where `port` is not free. @param makeApp is told the address @returns the address */
export async function listen(port: number, makeApp: (address: string) => Hono): Promise<string> {
  const on = Promise.withResolvers<string>()
  let app: Hono | undefined
  const server = serve({ fetch: (...args) => app!.fetch(...args), hostname: '127.0.0.1', port }, ({ port: own }) => {
    const address = `http://127.0.0.1:${own}`
    app = makeApp(address)
    on.resolve(address)
  })
  server.once('error', on.reject)
  try {
    return await on.promise
  } catch (error) {
    if (port !== 0 && (error as NodeJS.ErrnoException).code === 'EADDRINUSE') return listen(0, makeApp)
    throw error
  }
}

/** Serves an app on 127.0.0.1 only. Public access goes through an https proxy. */
import { serve } from '@hono/node-server'
import type { Hono } from 'hono'

/** Listens on `port`, or on a free port if it is in use. @param makeApp creates the app for the URL @returns the URL */
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

/**
 * The console as the player's page may show it in a frame. The console itself never lets anybody do that, so that nobody is made to click
 * on what they do not see; here it is passed on without that one rule, on this machine and for the demo alone.
 */
import { Hono } from 'hono'
import { listen } from '#src/listen.ts'

export function serveFramed(consoleUrl: string): Promise<string> {
  return listen(0, () => {
    const app = new Hono()
    app.all('*', async (c) => {
      const { pathname, search } = new URL(c.req.url)
      const { method, body } = c.req.raw
      // With the frame's own Host, which the console compares with the Origin of whatever changes something.
      const headers = new Headers(c.req.raw.headers)
      headers.delete('connection')
      headers.delete('accept-encoding') // what fetch unpacks must not be announced as packed
      const answer = await fetch(consoleUrl + pathname + search, {
        method,
        headers,
        body,
        redirect: 'manual',
        duplex: 'half',
      } as RequestInit)
      const framed = new Headers(answer.headers)
      const policy = framed.get('content-security-policy')
      if (policy) framed.set('content-security-policy', policy.replace(/frame-ancestors[^;]*(; )?/, ''))
      framed.delete('content-encoding')
      framed.delete('content-length')
      // A page that leaves cancels this body, and so the console's: the dashboard's stream ends.
      return new Response(answer.body, { status: answer.status, headers: framed })
    })
    app.onError((_error, c) => c.body(null, 502)) // the console has ended
    return app
  })
}

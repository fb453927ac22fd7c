/**
 * A proxy that lets the demo page show the console in a frame. The console forbids framing to prevent clickjacking; this proxy removes that
 * rule, only on this machine and only for the demo.
 */
import { Hono } from 'hono'
import { listen } from '#src/listen.ts'

export function serveFramed(consoleUrl: string): Promise<string> {
  return listen(0, () => {
    const app = new Hono()
    app.all('*', async (c) => {
      const { pathname, search } = new URL(c.req.url)
      const { method, body } = c.req.raw
      // Keeps the frame's Host header, which the console compares with Origin for changes.
      const headers = new Headers(c.req.raw.headers)
      headers.delete('connection')
      headers.delete('accept-encoding') // fetch decompresses the answer
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
      // When a page is left, this body is cancelled, and with it the console's event stream.
      return new Response(answer.body, { status: answer.status, headers: framed })
    })
    app.onError((_error, c) => c.body(null, 502)) // the console is not running
    return app
  })
}

/**
 * A streamed answer that breaks off when its source fails (security.md, Exports). Left to @hono/node-server 2.1, it would end well for a
 * reader who is behind: that writes the error's message and the last chunk before it closes the connection.
 */
import type { Http2Bindings, HttpBindings } from '@hono/node-server'

/** @param outgoing the answer on its connection; without one nothing is added */
export function breakableBody(
  source: ReadableStream<Uint8Array>,
  outgoing: (HttpBindings | Http2Bindings)['outgoing'] | undefined,
): ReadableStream<Uint8Array> {
  if (!outgoing) return source
  const reader = source.getReader()
  reader.closed.catch(() => outgoing.destroy())
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/**
 * A streamed answer that breaks off when its source fails (security.md, Exports). By itself, @hono/node-server 2.1 would write the error's
 * message and the last chunk before it closes the connection, so a slow reader would take the answer for complete.
 */
import type { Http2Bindings, HttpBindings } from '@hono/node-server'

/** @param outgoing the answer on its connection; without one the body is returned as it is */
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

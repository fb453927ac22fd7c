/** Server-sent events: the state that a page follows, while the page is visible. */
import type { Followed, FollowedInput } from '@arcade/contract/dashboard/calls'
import { contractRoutes } from 'virtual:contract-routes'
import { asCallError } from './call-error.ts'
import { client } from './client.ts'

const FIRST_RETRY_MS = 2000
const LAST_RETRY_MS = 60_000

interface FollowedWatcher<Name extends keyof Followed> {
  /** Called with the current state when the stream opens, also after a reconnection. */
  onOpen: (now: Followed[Name]) => void
  /** Called with the new state after each change. */
  onChange: (now: Followed[Name]) => void
  /** Called when the stream breaks. It reconnects after a delay. */
  onLost?: () => void
}

/**
 * Subscribes to server-sent events, until the returned function is called or the server rejects the session. The stream is open only while
 * the page is visible, because all tabs of a browser share six HTTP/1.1 connections to a server.
 */
export function follow<Name extends keyof Followed>(
  name: Name,
  followed: FollowedInput,
  { onOpen, onChange, onLost }: FollowedWatcher<Name>,
): () => void {
  const { path = '' } = contractRoutes.dashboard.events['~orpc'].route
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempts = 0
  const close = (): void => {
    clearTimeout(timer)
    timer = undefined
    source?.close()
    source = undefined
  }
  const open = (): void => {
    close()
    let isFirst = true
    source = new EventSource(`${path}?${new URLSearchParams(followed as Record<string, string>).toString()}`)
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      attempts = 0
      const notify = isFirst ? onOpen : onChange
      isFirst = false
      notify(JSON.parse(data) as Followed[Name])
    })
    source.addEventListener('error', () => {
      close()
      onLost?.()
      const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts++)
      timer = setTimeout(retry, delay * (0.5 + Math.random() / 2)) // jitter: not all browsers reconnect to a restarted server at once
    })
  }
  // An EventSource does not say why it was refused. A call does, and `onRejection` reports it.
  const retry = (): void => {
    const rejected = (error: unknown): void => {
      if (!['SIGNED_OUT', 'FORBIDDEN'].includes(asCallError(error).code)) open()
    }
    const expected = timer
    client.dashboard.get().then(
      () => timer === expected && open(),
      (error: unknown) => timer === expected && rejected(error),
    )
  }
  const openWhileVisible = (): void => {
    if (document.visibilityState === 'visible') open()
    else close()
  }
  document.addEventListener('visibilitychange', openWhileVisible)
  openWhileVisible()
  return () => {
    document.removeEventListener('visibilitychange', openWhileVisible)
    close()
  }
}

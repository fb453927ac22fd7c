/** Who is signed in (§3 session data, §4 authentication): one cached answer that outlives a reload and follows the other tabs. */
import type { SessionUser } from '@arcade/contract/auth'
import { useQuery } from '@tanstack/react-query'
import { api, client, onRejection, queryClient } from './client.ts'

const STALE_AFTER_MS = 30_000
const sessionKey = api.auth.session.queryKey()
export type Session = Awaited<ReturnType<typeof client.auth.session>>

/** Signing in or out in one tab is news for all the others. */
const tabs = new BroadcastChannel('session')

/** Whose answers the cache holds. */
let owner = ''

function sessionQuery() {
  return {
    queryKey: sessionKey,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Session> => {
      const session = await client.auth.session(undefined, { signal })
      forgetOthers(session.user)
      return session
    },
    staleTime: STALE_AFTER_MS,
    gcTime: Infinity,
  }
}

/** The session as the server tells it: pending at first, an error if it cannot be reached, then always data. */
export function useSessionQuery() {
  return useQuery(sessionQuery())
}

/** The session, below the place where it has been loaded. */
export function useSession(): Session {
  return useSessionQuery().data ?? { user: null, registrationEmailHost: '' }
}

/** The session outside of React; `undefined` until the server has told. */
export function knownSession(): Session | undefined {
  return queryClient.getQueryData<Session>(sessionKey)
}

/** For the guards of routes. */
export function currentUser(): SessionUser | null {
  return knownSession()?.user ?? null
}

/** After a login, a registration or, with null, a sign-out that the server has confirmed. */
export function setCurrentUser(user: SessionUser | null): void {
  adopt(user)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
  tabs.postMessage('changed')
}

function adopt(user: SessionUser | null): void {
  void queryClient.cancelQueries({ queryKey: sessionKey })
  forgetOthers(user)
  queryClient.setQueryData<Session>(sessionKey, (session) => session && { ...session, user })
}

/** Takes the session that came with the page, or else asks for it before the first render does. */
export function startSession(): void {
  const session = sessionInPage()
  if (session === null) {
    void queryClient.prefetchQuery(sessionQuery())
    return
  }
  forgetOthers(session.user)
  queryClient.setQueryData<Session>(sessionKey, session)
}

/** What the server wrote into index.html: the answer of GET /api/session, or null if it could not tell. */
function sessionInPage(): Session | null {
  const text = document.querySelector('#session')?.textContent ?? 'null'
  const session = JSON.parse(text) as Session | string | null
  return typeof session === 'object' ? session : null // the file as built, which the development server sends, has a mere text
}

/** No answer that was given to one person is shown to another, or to the same one with other rights. */
function forgetOthers(user: SessionUser | null): void {
  const next = user ? `${user.id} ${user.userType}` : ''
  if (next !== owner) queryClient.removeQueries({ predicate: ({ queryKey }) => !isSessionKey(queryKey) })
  owner = next
}

function isSessionKey(key: readonly unknown[]): boolean {
  return JSON.stringify(key) === JSON.stringify(sessionKey)
}

/** Follows other tabs and the server's refusals until the returned function is called. */
export function watchSession(): () => void {
  const refresh = () => void queryClient.invalidateQueries({ queryKey: sessionKey })
  tabs.addEventListener('message', refresh)
  const stop = onRejection(({ code }) => {
    if (code === 'SIGNED_OUT') adopt(null)
    else refresh() // the rights may have changed
  })
  return () => {
    tabs.removeEventListener('message', refresh)
    stop()
  }
}

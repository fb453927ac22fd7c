/** Who is signed in (§3 session data, §4 authentication): one cached answer, which follows sign-ins and sign-outs of other tabs. */
import type { SessionUser } from '@arcade/contract/auth'
import { useQuery } from '@tanstack/react-query'
import { api, client, onRejection, queryClient } from './client.ts'

const STALE_AFTER_MS = 30_000
const sessionKey = api.auth.session.queryKey()
export type Session = Awaited<ReturnType<typeof client.auth.session>>

/** Tells the other tabs that somebody signed in or out in this one. */
const tabs = new BroadcastChannel('session')

/** The person whose answers the cache holds. */
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

/** The query of the session. It is pending until the server has answered, and an error if the server cannot be reached. */
export function useSessionQuery() {
  return useQuery(sessionQuery())
}

/** The session, for components that are rendered once it is loaded. */
export function useSession(): Session {
  return useSessionQuery().data ?? { user: null, registrationEmailHost: '' }
}

/** The session outside of React; undefined until the server has answered. */
export function knownSession(): Session | undefined {
  return queryClient.getQueryData<Session>(sessionKey)
}

/** The signed-in user outside of React, for the guards of routes. */
export function currentUser(): SessionUser | null {
  return knownSession()?.user ?? null
}

/** To be called after a login or registration and, with null, after a sign-out that the server has confirmed. */
export function setCurrentUser(user: SessionUser | null): void {
  adopt(user)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
  tabs.postMessage('changed')
}

function adopt(user: SessionUser | null): void {
  void queryClient.cancelQueries({ queryKey: sessionKey })
  queryClient.setQueryData<Session>(sessionKey, (session) => session && { ...session, user })
  forgetOthers(user)
}

/** Takes the session that came with the page, or else asks the server for it before the first render. */
export function startSession(): void {
  // The page that one signs out from is drawn until Login is loaded, and must not ask anew for what was dropped from the cache.
  const enabled = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => isSessionKey(queryKey) || currentUser() !== null
  queryClient.setDefaultOptions({
    ...queryClient.getDefaultOptions(),
    queries: { ...queryClient.getDefaultOptions().queries, enabled },
  })
  const session = sessionInPage()
  if (session === null) {
    void queryClient.prefetchQuery(sessionQuery())
    return
  }
  forgetOthers(session.user)
  queryClient.setQueryData<Session>(sessionKey, session)
}

/** The answer of GET /api/session that the server wrote into index.html; null if it could not answer. */
function sessionInPage(): Session | null {
  const text = document.querySelector('#session')?.textContent ?? 'null'
  const session = JSON.parse(text) as Session | string | null
  return typeof session === 'object' ? session : null // the development server sends index.html with a placeholder, which is a text
}

/** Drops cached answers that were given to somebody else, or to the same person with other rights. */
function forgetOthers(user: SessionUser | null): void {
  const next = user ? `${user.id} ${user.userType}` : ''
  if (next !== owner) queryClient.removeQueries({ predicate: ({ queryKey }) => !isSessionKey(queryKey) })
  owner = next
}

function isSessionKey(key: readonly unknown[]): boolean {
  return JSON.stringify(key) === JSON.stringify(sessionKey)
}

/** Follows other tabs and the server's refusals; the returned function stops it. */
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

/** Who is signed in (§3 session data, §4 authentication): one cached answer, which follows sign-ins and sign-outs of other tabs. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { dropPersonsDrafts } from '#src/ui/drafts.ts'
import { forgetUnsavedWork, hasUnsavedWork } from '#src/ui/unsaved.ts'
import { api, client, onRejection, onSessionEnd, queryClient } from './client.ts'

const STALE_AFTER_MS = 30_000
const sessionKey = api.auth.session.queryKey()
export type Session = Awaited<ReturnType<typeof client.auth.session>>

/** Tells the other tabs that somebody signed in or out in this one. */
const tabs = new BroadcastChannel('session')

/** The person whose answers the cache holds. */
let owner = ''

/** In the tab's storage: the id of the person who is signed in, also after their session has ended. Logging out removes it. */
const SIGNED_IN = 'arcade-signed-in'

/** Uses the tab's storage, where the browser allows that. */
function inTab<T>(act: (storage: Storage) => T): T | undefined {
  try {
    return act(sessionStorage)
  } catch {
    return undefined
  }
}

function sessionQuery() {
  return {
    queryKey: sessionKey,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Session> => {
      const session = await client.auth.session(undefined, { signal })
      const user = currentUser()
      if (!session.user && isRenewable()) {
        void renew()
        return { ...session, user }
      }
      if (session.user) endRenewal(session.user.id === user?.id) // another tab has signed in
      recognise(session.user)
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
  return useSessionQuery().data ?? { user: null, registrationEmailHost: '', hasAdmin: true }
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

/** Signed out by the person: nothing of theirs stays in this browser. */
export function forgetPerson(): void {
  const user = currentUser()
  if (user) dropPersonsDrafts(user.id)
  forgetUnsavedWork()
  inTab((storage) => storage.removeItem(SIGNED_IN))
  setCurrentUser(null)
}

/** The id of the person whose session has ended in this tab without their logging out, while nobody is signed in. */
export function endedSession(): string | undefined {
  if (currentUser()) return undefined
  return inTab((storage) => storage.getItem(SIGNED_IN)) ?? undefined
}

function adopt(user: SessionUser | null): void {
  void queryClient.cancelQueries({ queryKey: sessionKey })
  queryClient.setQueryData<Session>(sessionKey, (session) => session && { ...session, user })
  recognise(user)
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
  recognise(session.user)
  queryClient.setQueryData<Session>(sessionKey, session)
}

/** The answer of GET /api/session that the server wrote into index.html; null if it could not answer. */
function sessionInPage(): Session | null {
  const text = document.querySelector('#session')?.textContent ?? 'null'
  const session = JSON.parse(text) as Session | string | null
  return typeof session === 'object' ? session : null // the development server sends index.html with a placeholder, which is a text
}

/** Drops cached answers that were given to somebody else, or to the same person with other rights, and remembers who is signed in. */
function recognise(user: SessionUser | null): void {
  const next = user ? `${user.id} ${user.userType}` : ''
  if (next !== owner) queryClient.removeQueries({ predicate: ({ queryKey }) => !isSessionKey(queryKey) })
  owner = next
  if (user) inTab((storage) => storage.setItem(SIGNED_IN, user.id))
}

function isSessionKey(key: readonly unknown[]): boolean {
  return JSON.stringify(key) === JSON.stringify(sessionKey)
}

/** A session that has ended beside text that is not saved yet: the page stays while its owner signs in again. */
interface Renewal {
  user: SessionUser
  /** Settled once somebody has signed in again, or has given up. */
  result: PromiseWithResolvers<boolean>
}

let renewal: Renewal | undefined
const renewalListeners = new Set<() => void>()

/** The session that has to be renewed, if there is one. */
export function useRenewal(): Renewal | undefined {
  return useSyncExternalStore(
    (listener) => {
      renewalListeners.add(listener)
      return () => renewalListeners.delete(listener)
    },
    () => renewal,
  )
}

function setRenewal(next: Renewal | undefined): void {
  renewal = next
  for (const listener of renewalListeners) listener()
}

function isRenewable(): boolean {
  return currentUser() !== null && hasUnsavedWork()
}

/** The owner of the session has signed in again or, with null, gives the unsaved text up. */
export function settleRenewal(user: SessionUser | null): void {
  if (!user) forgetUnsavedWork()
  setCurrentUser(user)
  endRenewal(user !== null)
}

function endRenewal(isRenewed: boolean): void {
  if (!renewal) return
  const { result } = renewal
  setRenewal(undefined)
  result.resolve(isRenewed)
}

/** Asks for the session to be renewed if something would be lost without it; false if it was not. */
function renew(): Promise<boolean> {
  const user = currentUser()
  if (renewal) return renewal.result.promise
  if (!user || !isRenewable()) return Promise.resolve(false)
  const result = Promise.withResolvers<boolean>()
  setRenewal({ user, result })
  return result.promise
}

/** Follows other tabs and the server's refusals; the returned function stops it. */
export function watchSession(): () => void {
  const refresh = () => void queryClient.invalidateQueries({ queryKey: sessionKey })
  tabs.addEventListener('message', refresh)
  onSessionEnd(renew)
  const stop = onRejection(({ code }) => {
    if (code === 'SIGNED_OUT') void renew().then((isRenewed) => isRenewed || adopt(null))
    else refresh() // the rights may have changed
  })
  return () => {
    tabs.removeEventListener('message', refresh)
    stop()
  }
}

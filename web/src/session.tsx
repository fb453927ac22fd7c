/** The current session (§3, §4): one cached answer, kept in step with sign-ins and sign-outs in other tabs. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import { neededAt } from '@arcade/contract/pages'
import { missingPermission } from '@arcade/contract/team/missing-permission'
import type { Needs } from '@arcade/contract/team/permissions'
import { hashKey, useQuery } from '@tanstack/react-query'
import { type ReactNode, useSyncExternalStore } from 'react'
import { dropPersonsDrafts } from '#src/ui/drafts.ts'
import { forgetUnsavedWork, hasUnsavedWork } from '#src/ui/unsaved.ts'
import { beginVisit, endVisit } from '#src/ui/visit.ts'
import { api, client, forGuests, onRejection, onSessionEnd, queryClient, sendQueriesWhile } from '#src/client/client.ts'
import { withSessionStorage } from '#src/client/session-storage.ts'

const STALE_AFTER_MS = 30_000
const sessionKey = api.auth.session.queryKey()
const SESSION_HASH = hashKey(sessionKey)
export type Session = Awaited<ReturnType<typeof client.auth.session>>

/** Notifies the browser's other tabs when somebody signs in or out in this one. */
const tabs = new BroadcastChannel('session')

/** The id of the user whose answers the query cache holds. */
let cachedUserId = ''

/** The sessionStorage key for the signed-in user's id. It outlives the session and is removed on logout. */
const SIGNED_IN = 'arcade-signed-in'

function sessionQuery() {
  return {
    queryKey: sessionKey,
    meta: forGuests,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Session> => {
      const session = await client.auth.session(undefined, { signal })
      const user = currentUser()
      if (!session.user && isRenewable()) {
        void renew()
        return { ...session, user }
      }
      if (session.user) endRenewal(session.user.id === user?.id) // another tab signed in
      recognise(session.user)
      return session
    },
    staleTime: STALE_AFTER_MS,
    gcTime: Infinity,
  }
}

/** The session query: pending until the server answers, failed if it cannot be reached. */
export function useSessionQuery() {
  return useQuery(sessionQuery())
}

const NO_SESSION: Session = {
  user: null,
  registrationEmailHost: '',
  hasAdmin: true,
  canResetByMail: false,
  signInService: null,
}

/** Returns the session, in components that render only after it is loaded. */
export function useSession(): Session {
  return useSessionQuery().data ?? NO_SESSION
}

/**
 * Returns the session outside React; undefined until the server has answered. Reads the cache by the hash: each query asks for the session
 * several times while a page is drawn, and `getQueryData` would hash the key every time.
 */
export function knownSession(): Session | undefined {
  return queryClient.getQueryCache().get<Session>(SESSION_HASH)?.state.data
}

/** Returns the signed-in user outside React, for route guards. */
export function currentUser(): SessionUser | null {
  return knownSession()?.user ?? null
}

/** Whether a person's role has a permission. What a role may not do is not shown; the server checks each call again. */
export function mayDo(user: SessionUser | null, needs: Needs): boolean {
  return user !== null && missingPermission(needs, user.permissions) === undefined
}

/** Whether a person may open the page at this address of the console. */
export function mayOpen(user: SessionUser | null, address: string): boolean {
  if (address === '/') return user !== null
  const needs = neededAt(address)
  return needs !== undefined && mayDo(user, needs)
}

/** Whether the signed-in person may do something. Cheap enough for each row of a list. */
export function useMay(needs: Needs): boolean {
  return useSyncExternalStore(followSession, () => mayDo(currentUser(), needs))
}

/** Whether the signed-in person may open the page at this address. */
export function useMayOpen(address: string): boolean {
  return useSyncExternalStore(followSession, () => mayOpen(currentUser(), address))
}

/** Renders its children for people who may do this, and nothing for others. */
export function Permitted({ needs, children }: { needs: Needs; children: ReactNode }): ReactNode {
  return useMay(needs) ? children : null
}

function followSession(listener: () => void): () => void {
  return queryClient.getQueryCache().subscribe(({ query }) => {
    if (query.queryHash === SESSION_HASH) listener()
  })
}

/** Call this after a login or registration, and with null after a sign-out that the server has confirmed. */
export function setCurrentUser(user: SessionUser | null): void {
  adopt(user)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
  tabs.postMessage('changed')
}

/** Whether the request that ends the session is under way. */
let isLeaving = false
/** Aborts the calls of `tellServer` that are under way. */
let backgroundCalls = new AbortController()

/** Tells the server something for which nobody waits. Log Out aborts the call, because its answer could only be a refusal then. */
export function tellServer(send: (options: { signal: AbortSignal }) => Promise<unknown>): void {
  if (currentUser() !== null && !isLeaving) send({ signal: backgroundCalls.signal }).catch(() => {})
}

/**
 * Ends the session and removes all data of its person from this browser. Meanwhile no query is made, because its answer could only be a
 * refusal. @throws CallError if the session could not be ended
 */
export async function logOut(): Promise<void> {
  isLeaving = true
  try {
    backgroundCalls.abort()
    backgroundCalls = new AbortController()
    await queryClient.cancelQueries()
    await client.auth.logout()
    forgetPerson()
  } finally {
    isLeaving = false
    if (currentUser()) void queryClient.invalidateQueries({ type: 'active' }) // it failed, and the page goes on
  }
}

function forgetPerson(): void {
  const user = currentUser()
  if (user) dropPersonsDrafts(user.id)
  forgetUnsavedWork()
  endVisit()
  withSessionStorage((storage) => storage.removeItem(SIGNED_IN))
  setCurrentUser(null)
}

/** Returns the id of the user whose session ended without a logout in this tab; undefined while somebody is signed in. */
export function endedSession(): string | undefined {
  if (currentUser()) return undefined
  return withSessionStorage((storage) => storage.getItem(SIGNED_IN)) ?? undefined
}

function adopt(user: SessionUser | null): void {
  void queryClient.cancelQueries({ queryKey: sessionKey })
  queryClient.setQueryData<Session>(sessionKey, (session) => session && { ...session, user })
  recognise(user)
}

/** Uses the session that the server put into the page, or requests it before the first render. */
export function startSession(): void {
  sendQueriesWhile(() => currentUser() !== null && !isLeaving)
  const session = sessionInPage()
  if (session === null) {
    void queryClient.prefetchQuery(sessionQuery())
    return
  }
  recognise(session.user)
  queryClient.setQueryData<Session>(sessionKey, session)
}

/** Returns the GET /api/session answer that the server put into index.html, or null if index.html has no answer. */
function sessionInPage(): Session | null {
  const text = document.querySelector('#session')?.textContent ?? 'null'
  const session = JSON.parse(text) as Session | string | null
  return typeof session === 'object' ? session : null // the development server leaves the placeholder, which is a string
}

/** Clears the query cache if the user changed, and the visit if it was another user's. Remembers who is signed in. */
function recognise(user: SessionUser | null): void {
  const next = user?.id ?? ''
  if (next !== cachedUserId) queryClient.removeQueries({ predicate: ({ queryKey }) => !isSessionKey(queryKey) })
  cachedUserId = next
  if (!user) return
  beginVisit(user.id)
  withSessionStorage((storage) => storage.setItem(SIGNED_IN, user.id))
}

/**
 * Call this once the pages know that the signed-in person may do more or less than before. Loads again what is shown, and forgets the rest:
 * it may hold fields that the person may not see any more. What was typed into a form stays.
 */
export function reloadForPermissions(): void {
  const predicate = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => !isSessionKey(queryKey)
  queryClient.removeQueries({ type: 'inactive', predicate })
  void queryClient.invalidateQueries({ predicate })
}

function isSessionKey(key: readonly unknown[]): boolean {
  return JSON.stringify(key) === JSON.stringify(sessionKey)
}

/** A session that ended while the page has unsaved input. The page stays until its owner signs in again or gives up. */
interface Renewal {
  user: SessionUser
  /** Resolves with true after signing in again, with false after giving up. */
  result: PromiseWithResolvers<boolean>
}

let renewal: Renewal | undefined
const renewalListeners = new Set<() => void>()

/** Returns the session to be renewed, if there is one. */
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

/** Ends the renewal. `user` is the owner who signed in again; null discards the unsaved input. */
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

/** Loads the session again, because what its person may do has changed. */
export async function refreshSession(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: sessionKey })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
  tabs.postMessage('changed')
}

/** Whether the person is signed in by another token: a proof of the second factor replaces the token while calls are under way. */
async function hasNewToken(): Promise<boolean> {
  const user = currentUser()
  if (!user || renewal) return false
  const session = await client.auth.session().catch(() => undefined)
  return session?.user?.id === user.id
}

/** Returns true if the person has a new token; otherwise renews the session (`renew`). Resolves with whether there is a session. */
async function renewIfEnded(): Promise<boolean> {
  return (await hasNewToken()) || renew()
}

/** Asks the user to sign in again if there is unsaved input. Resolves with whether the session was renewed. */
function renew(): Promise<boolean> {
  const user = currentUser()
  if (renewal) return renewal.result.promise
  if (!user || !isRenewable()) return Promise.resolve(false)
  const result = Promise.withResolvers<boolean>()
  setRenewal({ user, result })
  return result.promise
}

/** Follows changes in other tabs and rejections by the server. Returns a function that stops it. */
export function watchSession(): () => void {
  const refresh = () => void queryClient.invalidateQueries({ queryKey: sessionKey })
  tabs.addEventListener('message', refresh)
  onSessionEnd(renewIfEnded)
  const stop = onRejection(({ code }) => {
    if (code === 'SIGNED_OUT') void renewIfEnded().then((isRenewed) => isRenewed || adopt(null))
    else refresh() // FORBIDDEN: the user's role may have changed
  })
  return () => {
    tabs.removeEventListener('message', refresh)
    stop()
  }
}

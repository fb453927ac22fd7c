/**
 * Keeps pages up to date with changes by others. Where the server sends events (client/follow.ts), an outdated page is reloaded, one
 * load at a time and at most once a second. Other lists are reloaded every 30 s and when the window gets the focus.
 */
import type { Followed, FollowedInput } from '@arcade/contract/dashboard/calls'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { follow } from '#src/client/follow.ts'
import { keepFocusInRows } from '#src/ui/table-rows.ts'

const REFRESH_EVERY_MS = 1000
/** Loads after one event: a response may predate the change, and is then requested again. */
const MAX_TRIES = 3
/** Time without input after which a page stops refreshing, so that an unattended page does not keep its session alive for ever (§4). */
const UNATTENDED_MS = 60 * 60 * 1000
const touches = ['pointerdown', 'pointermove', 'wheel', 'keydown'] as const

interface LivePage<Now> {
  /** Whether the page shows the state that the event reports. */
  isCurrent: (now: Now) => boolean
  /** Loads the outdated parts of the page. */
  refresh: (now: Now) => Promise<unknown>
}

/** Refreshes the page when an event reports a change. @param followed undefined to follow nothing */
export function useLive<Name extends 'history' | 'player'>(
  name: Name,
  followed: FollowedInput | undefined,
  shown: LivePage<Followed[Name]>,
): void {
  const isCurrent = useEffectEvent(shown.isCurrent)
  const refresh = useEffectEvent(shown.refresh)
  const key = followed && JSON.stringify(followed)
  useEffect(() => {
    if (key === undefined) return undefined
    const keeper = keepCurrent<Followed[Name]>({ isCurrent: (now) => isCurrent(now), refresh: (now) => refresh(now) })
    const stop = follow(name, JSON.parse(key) as FollowedInput, { onOpen: keeper.update, onChange: keeper.update })
    const stopListening = listenToTouches(keeper.attend)
    return () => {
      stop()
      keeper.stop()
      stopListening()
    }
  }, [name, key])
}

const RELOAD_EVERY_MS = 30_000
/** Minimum age before a list is reloaded: returning to a window can fire two events. */
const FRESH_MS = 1000

/** No reload while something is in use: a dialog, picked or dragged rows, or a row with an act under way. */
const IN_USE = '[role=dialog], [role=alertdialog], [data-picking], [data-lifted], :is(tr, li)[aria-busy=true]'
let actsUnderWay = 0

/** Runs an act during which no list reloads by itself: a response from before the act would undo what is already shown. */
export async function pauseListReloads<T>(act: () => Promise<T>): Promise<T> {
  actsUnderWay += 1
  try {
    return await act()
  } finally {
    actsUnderWay -= 1
  }
}

/**
 * Reloads a list while it is shown. Keeps the old rows until the new ones arrive, and keeps the focus in them.
 * @param isOn false for a list that `useLive` refreshes
 */
export function useAutoReload(
  { dataUpdatedAt, refetch }: Pick<UseQueryResult, 'dataUpdatedAt' | 'refetch'>,
  { isOn = true, everyMs = RELOAD_EVERY_MS } = {},
): void {
  const reload = useEffectEvent(async () => {
    const isShown = dataUpdatedAt > 0 // otherwise it is loading or shows an error
    if (!isShown || Date.now() - dataUpdatedAt < FRESH_MS) return
    if (document.visibilityState !== 'visible' || actsUnderWay > 0 || document.querySelector(IN_USE)) return
    const keepFocus = keepFocusInRows(document.activeElement)
    await refetch({ cancelRefetch: false })
    keepFocus()
  })
  useEffect(() => {
    if (!isOn) return undefined
    const attendance = createAttendance()
    const handleReturn = () => {
      attendance.attend()
      void reload()
    }
    const timer = setInterval(() => attendance.isAttended() && void reload(), everyMs)
    const stopListening = listenToTouches(attendance.attend)
    window.addEventListener('focus', handleReturn)
    document.addEventListener('visibilitychange', handleReturn)
    return () => {
      clearInterval(timer)
      stopListening()
      window.removeEventListener('focus', handleReturn)
      document.removeEventListener('visibilitychange', handleReturn)
    }
  }, [isOn, everyMs])
}

function listenToTouches(onTouch: () => void): () => void {
  for (const touch of touches) window.addEventListener(touch, onTouch, { passive: true })
  return () => {
    for (const touch of touches) window.removeEventListener(touch, onTouch)
  }
}

function createAttendance() {
  let attendedAt = performance.now()
  return {
    isAttended: () => performance.now() - attendedAt < UNATTENDED_MS,
    /** Call this when the operator uses the page. */
    attend: () => {
      attendedAt = performance.now()
    },
  }
}

export interface Keeper<Now> {
  /** Reports the current state. */
  update: (now: Now) => void
  /** Call this when the operator uses the page. */
  attend: () => void
  stop: () => void
}

export function keepCurrent<Now>({ isCurrent, refresh }: LivePage<Now>): Keeper<Now> {
  let latest: { now: Now } | undefined
  let triesLeft = 0
  const { isAttended, attend } = createAttendance()
  let isRunning = false
  let isStopped = false

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (latest && triesLeft > 0 && !isStopped && isAttended() && !isCurrent(latest.now)) {
      triesLeft -= 1
      const pause = new Promise((resolve) => setTimeout(resolve, REFRESH_EVERY_MS))
      await Promise.all([refresh(latest.now).catch(() => {}), pause]) // a page that could not be loaded shows its own error
    }
    isRunning = false
  }

  return {
    update(now) {
      latest = { now }
      triesLeft = MAX_TRIES
      void run()
    },
    attend() {
      const wasAttended = isAttended()
      attend()
      if (!wasAttended) void run()
    },
    stop() {
      isStopped = true
    },
  }
}

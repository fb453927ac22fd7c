/**
 * Keeps what a page shows up to date with what others do. Where the server tells what is so now (client.ts, `follow`), a page that shows
 * something else is loaded again: one time after another, at most once a second, however much happens. A list is loaded again every half
 * minute, and when one comes back to its window.
 */
import type { Followed, FollowedInput } from '@arcade/contract/dashboard/calls'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { follow } from '#src/client.ts'
import { keepFocusInRows } from '#src/ui/table-rows.ts'

const REFRESH_EVERY_MS = 1000
/** What was on its way when something changed may be of before, and so is loaded once more. */
const MAX_TRIES = 3
/** An open page that nobody touches must not keep its session alive for ever (§4). */
const UNATTENDED_MS = 60 * 60 * 1000
const touches = ['pointerdown', 'pointermove', 'wheel', 'keydown'] as const

interface Shown<Now> {
  /** Whether the page shows what is so now. */
  isCurrent: (now: Now) => boolean
  /** Loads what the page shows, as far as it is not current. */
  refresh: (now: Now) => Promise<unknown>
}

/** @param followed undefined: nothing, for now */
export function useLive<Name extends 'history' | 'player'>(
  name: Name,
  followed: FollowedInput | undefined,
  shown: Shown<Followed[Name]>,
): void {
  const isCurrent = useEffectEvent(shown.isCurrent)
  const refresh = useEffectEvent(shown.refresh)
  const key = followed && JSON.stringify(followed)
  useEffect(() => {
    if (key === undefined) return undefined
    const keeper = keepCurrent<Followed[Name]>({ isCurrent: (now) => isCurrent(now), refresh: (now) => refresh(now) })
    const stop = follow(name, JSON.parse(key) as FollowedInput, { onOpen: keeper.tell, onChange: keeper.tell })
    const stopListening = listenToTouches(keeper.attend)
    return () => {
      stop()
      keeper.stop()
      stopListening()
    }
  }, [name, key])
}

const LOOK_EVERY_MS = 30_000
/** Coming back to a window may be told by two events. */
const FRESH_MS = 1000

/** What one is about to act on stays as one sees it: a dialog, picked or lifted rows, a row on which an act is under way. */
const IN_USE = 'dialog[open], [role=dialog], [data-picking], [data-lifted], :is(tr, li)[aria-busy=true]'
let actsUnderWay = 0

/** During the act no list is loaded again by itself: an answer from before the act would undo what is shown already. */
export async function holdLists<T>(act: () => Promise<T>): Promise<T> {
  actsUnderWay += 1
  try {
    return await act()
  } finally {
    actsUnderWay -= 1
  }
}

/**
 * Loads a list again while it is shown. The rows stay until the answer is there, the focus stays in them.
 * @param isOn false for a list that `useLive` keeps
 */
export function useKeptFresh({ dataUpdatedAt, refetch }: Pick<UseQueryResult, 'dataUpdatedAt' | 'refetch'>, isOn = true): void {
  const look = useEffectEvent(async () => {
    const isShown = dataUpdatedAt > 0 // else it is on its way, or says itself why it is not
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
      void look()
    }
    const timer = setInterval(() => attendance.isAttended() && void look(), LOOK_EVERY_MS)
    const stopListening = listenToTouches(attendance.attend)
    window.addEventListener('focus', handleReturn)
    document.addEventListener('visibilitychange', handleReturn)
    return () => {
      clearInterval(timer)
      stopListening()
      window.removeEventListener('focus', handleReturn)
      document.removeEventListener('visibilitychange', handleReturn)
    }
  }, [isOn])
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
    /** Somebody is at the page. */
    attend: () => {
      attendedAt = performance.now()
    },
  }
}

export interface Keeper<Now> {
  /** Says what is so now. */
  tell: (now: Now) => void
  /** Somebody is at the page. */
  attend: () => void
  stop: () => void
}

export function keepCurrent<Now>({ isCurrent, refresh }: Shown<Now>): Keeper<Now> {
  let told: { now: Now } | undefined
  let triesLeft = 0
  const { isAttended, attend } = createAttendance()
  let isRunning = false
  let isStopped = false

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    while (told && triesLeft > 0 && !isStopped && isAttended() && !isCurrent(told.now)) {
      triesLeft -= 1
      const pause = new Promise((resolve) => setTimeout(resolve, REFRESH_EVERY_MS))
      await Promise.all([refresh(told.now).catch(() => {}), pause]) // a page that could not be loaded says so itself
    }
    isRunning = false
  }

  return {
    tell(now) {
      told = { now }
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

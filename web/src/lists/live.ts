/**
 * Keeps what a page shows up to date with what others do. The server tells what is so now (client.ts, `follow`), and where the page shows
 * something else it is loaded again: one time after another, at most once a second, however much happens.
 */
import type { Followed, FollowedInput } from '@arcade/contract/dashboard'
import { useEffect, useEffectEvent } from 'react'
import { follow } from '#src/client.ts'

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
    for (const touch of touches) window.addEventListener(touch, keeper.attend, { passive: true })
    return () => {
      stop()
      keeper.stop()
      for (const touch of touches) window.removeEventListener(touch, keeper.attend)
    }
  }, [name, key])
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
  let attendedAt = performance.now()
  let isRunning = false
  let isStopped = false

  const isAttended = () => performance.now() - attendedAt < UNATTENDED_MS
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
      attendedAt = performance.now()
      if (!wasAttended) void run()
    },
    stop() {
      isStopped = true
    },
  }
}

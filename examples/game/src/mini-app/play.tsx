/** A round: stop the light on its mark eight times, by tap, space bar or Enter. */
import { type CSSProperties, useCallback, useEffect, useRef, useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { lightAt, MARK_REACH, markOf, pointsOf, scoreOf, MIN_TAP_MS, TAPS } from '#src/round.ts'
import { beginRound, BLOCKED, endRound, queryClient, refresh, sentenceOf } from './api.ts'
import { me, useIsBlocked } from './items.ts'

interface Round {
  id: string
  seed: number
}

export function Play() {
  const isBlocked = useIsBlocked()
  const begin = useMutation({
    mutationFn: async () => {
      const { isBlocked: isRefused } = await queryClient.fetchQuery(me) // reloaded, because a blocked player's round would not be paid
      return isRefused ? undefined : beginRound()
    },
  })
  const end = useMutation({
    mutationFn: ({ id, taps }: { id: string; taps: number[] }) => endRound(id, taps),
    onSuccess: refresh,
  })
  const { mutate: sendRound } = end
  const handleEnd = useCallback((id: string, taps: number[]) => sendRound({ id, taps }), [sendRound])
  const handleBegin = (): void => {
    end.reset()
    begin.mutate()
  }
  if (begin.data && end.isIdle) return <Bar key={begin.data.id} round={begin.data} onEnd={handleEnd} />
  const text =
    sentenceOf(begin.error ?? end.error) ??
    (end.data && `${end.data.score} points!`) ??
    (end.isPending ? 'Counting…' : 'The light runs over the bar. Stop it on its mark, eight times; it gets faster.')
  return (
    <section className="play">
      <h1>Stop the Light</h1>
      <output>{isBlocked ? BLOCKED : text}</output>
      <button type="button" className="main" disabled={isBlocked || begin.isPending || end.isPending} onClick={handleBegin}>
        {end.data ? 'Play again' : 'Play'}
      </button>
      {!isBlocked && <p className="hint">Tap, or press the space bar.</p>}
    </section>
  )
}

function Bar({ round: { id, seed }, onEnd }: { round: Round; onEnd: (id: string, taps: number[]) => void }) {
  const [taps, setTaps] = useState<number[]>([])
  const light = useRef<HTMLElement>(null)
  const [begun] = useState(() => performance.now())
  /** The time of the previous tap, from which the light runs. */
  const since = taps.reduce((at, ms) => at + ms, begun)

  // Moves the light outside React, because sixty updates a second are too many for state.
  useEffect(() => {
    let frame = 0
    const draw = (): void => {
      if (light.current) light.current.style.left = `${lightAt(taps.length, performance.now() - since) * 100}%`
      frame = requestAnimationFrame(draw)
    }
    draw()
    return () => cancelAnimationFrame(frame)
  }, [taps.length, since])

  useEffect(() => {
    if (taps.length === TAPS) onEnd(id, taps)
  }, [taps, id, onEnd])

  const handleTap = (): void => {
    const ms = Math.round(performance.now() - since)
    if (ms < MIN_TAP_MS || taps.length === TAPS) return // an accidental double tap
    setTaps([...taps, ms])
  }

  const last = taps.at(-1)
  const points = last === undefined ? undefined : pointsOf(seed, taps.length - 1, last)
  return (
    <button
      type="button"
      className="field"
      ref={takeFocus}
      onPointerDown={handleTap}
      onKeyDown={({ key, repeat }) => !repeat && [' ', 'Enter'].includes(key) && handleTap()}
    >
      <span className="hint">
        {Math.min(taps.length + 1, TAPS)} of {TAPS}
      </span>
      <span className="bar">
        <i
          className="mark"
          style={{ '--at': markOf(seed, Math.min(taps.length, TAPS - 1)), '--reach': MARK_REACH } as CSSProperties}
        />
        <i className="light" ref={light} />
      </span>
      <span className="points">{scoreOf(seed, taps)}</span>
      <output>{points === undefined ? 'Stop it on the mark' : points === 0 ? 'Missed' : `+${points}`}</output>
    </button>
  )
}

/** Focuses the bar when the round begins, so that the space bar plays it. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}

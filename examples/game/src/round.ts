/**
 * The rules of the game: a light sweeps over a bar, and the player stops it on a mark, eight times, faster each time. Pure arithmetic: the
 * Mini App plays with it, and the bot's server computes the score again instead of trusting the player.
 */

export const TAPS = 8
/** Minimum time between taps, in milliseconds: nobody can see the next mark and react faster. */
export const MIN_TAP_MS = 150
/** Maximum duration of a round, in milliseconds. A player who leaves starts a new round. */
export const MAX_ROUND_MS = 60_000
const MAX_POINTS = 20
/** Half of the mark's width; the bar's width is 1. */
export const MARK_REACH = 0.09

/** Returns the position of the mark at the n-th tap, from 0 to 1. It depends only on the round's seed. */
export function markOf(seed: number, n: number): number {
  // mulberry32: a seeded generator with the same result on every machine, unlike Math.random
  let mixed = (seed + Math.imul(n + 1, 0x6d2b79f5)) | 0
  mixed = Math.imul(mixed ^ (mixed >>> 15), 1 | mixed)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
  return 0.15 + 0.7 * (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32)
}

/** Returns the position of the light `ms` milliseconds after the previous tap, from 0 to 1. It moves back and forth. */
export function lightAt(n: number, ms: number): number {
  const sweepMs = 1500 - 110 * n
  const way = (ms / sweepMs) % 2
  return way <= 1 ? way : 2 - way
}

/** Returns 0 points beside the mark, 10 at its edge, 20 in its middle. */
export function pointsOf(seed: number, n: number, ms: number): number {
  const off = Math.abs(lightAt(n, ms) - markOf(seed, n)) / MARK_REACH
  return off > 1 ? 0 : Math.round(MAX_POINTS - (MAX_POINTS / 2) * off)
}

/** @param taps milliseconds since the previous tap, for each tap */
export function scoreOf(seed: number, taps: readonly number[]): number {
  return taps.reduce((score, ms, n) => score + pointsOf(seed, n, ms), 0)
}

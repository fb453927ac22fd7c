/**
 * The game itself: a light sweeps over a bar, and one stops it on a mark, eight times, faster each time. Pure arithmetic that the Mini App
 * plays and the bot's server plays again, so that a score is worked out and never taken from the player.
 */

export const TAPS = 8
/** Nobody sees the next mark and stops the light sooner. */
export const TAP_MIN_MS = 150
/** A round that takes longer is over: who left comes back to a new one. */
export const ROUND_MAX_MS = 60_000
const POINTS_MAX = 20
/** Half of the mark's width, where the bar is 1 wide. */
export const MARK_REACH = 0.09

/** Where the mark is on its bar, from 0 to 1, at the n-th tap of the round with this seed. */
export function markOf(seed: number, n: number): number {
  // mulberry32: the same number on every machine, which Math.random is not
  let mixed = (seed + Math.imul(n + 1, 0x6d2b79f5)) | 0
  mixed = Math.imul(mixed ^ (mixed >>> 15), 1 | mixed)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
  return 0.15 + 0.7 * (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32)
}

/** Where the light is, so many milliseconds after the tap before: from one end to the other and back. */
export function lightAt(n: number, ms: number): number {
  const sweepMs = 1500 - 110 * n
  const way = (ms / sweepMs) % 2
  return way <= 1 ? way : 2 - way
}

/** 0 beside the mark, 10 at its edge, 20 in its middle. */
export function pointsOf(seed: number, n: number, ms: number): number {
  const off = Math.abs(lightAt(n, ms) - markOf(seed, n)) / MARK_REACH
  return off > 1 ? 0 : Math.round(POINTS_MAX - (POINTS_MAX / 2) * off)
}

/** @param taps of each, how many milliseconds after the one before */
export function scoreOf(seed: number, taps: readonly number[]): number {
  return taps.reduce((score, ms, n) => score + pointsOf(seed, n, ms), 0)
}

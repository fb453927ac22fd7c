/**
 * The size of randomized tests: all together take minutes in `npm test` and hours in `npm run test:soak`. Random choices follow a seed,
 * which is always 1 in `npm test`; each soak run uses a new one and prints it.
 */
const isSoak = process.env['TEST_SIZE'] === 'soak'
export const seed = Number(process.env['TEST_SEED'] ?? 1)

/** Returns how many rounds, rows or cases a test runs: `small` in `npm test`, `soak` in `npm run test:soak`. */
export function rounds(small: number, soak: number): number {
  return isSoak ? soak : small
}

/** A generator of numbers in [0, 1) that depend only on the seed: mulberry32 by Tommy Ettinger, which is in the public domain. */
export function seededRandom(): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Prints a figure with the seed it was measured with. */
export function reportFigure(line: string): void {
  process.stdout.write(`${line} (TEST_SEED=${seed})\n`)
}

/**
 * What a broadcast has brought, and what its control group can show at all: pure arithmetic on counts of players, for the server and the
 * pages alike. All intervals are of 95 %.
 */

/** Players of a group, and those of them who did what is counted. `done` is at most `players`. */
export interface Group {
  players: number
  done: number
}

export interface Difference {
  /** The share of the first group minus that of the second, from -1 to 1. */
  difference: number
  /** The ends of the 95 % interval of the difference. */
  low: number
  high: number
}

/** The 97.5 % quantile of the normal distribution, for an interval of 95 %. */
const Z_INTERVAL = 1.959963984540054
/** The 80 % quantile: a planned difference is found in four of five cases, as usual when samples are planned. */
const Z_POWER = 0.8416212335729143

/** Returns Wilson's interval of a share (JASA 1927), which stays within 0 and 1 also for small groups. @param group of at least one player */
export function wilsonInterval({ players, done }: Group): { low: number; high: number } {
  const share = done / players
  const squared = Z_INTERVAL ** 2
  const center = share + squared / (2 * players)
  const half = Z_INTERVAL * Math.sqrt((share * (1 - share)) / players + squared / (4 * players ** 2))
  const scale = 1 + squared / players
  return { low: Math.max(0, (center - half) / scale), high: Math.min(1, (center + half) / scale) }
}

/**
 * Compares the shares of two independent groups by Newcombe's hybrid score interval (Statistics in Medicine 1998, method 10).
 * @returns undefined if a group has no players, because nothing can be compared then
 */
export function newcombeInterval(first: Group, second: Group): Difference | undefined {
  if (first.players === 0 || second.players === 0) return undefined
  const [one, other] = [first.done / first.players, second.done / second.players]
  const [ofOne, ofOther] = [wilsonInterval(first), wilsonInterval(second)]
  return {
    difference: one - other,
    low: Math.max(-1, one - other - Math.hypot(one - ofOne.low, ofOther.high - other)),
    high: Math.min(1, one - other + Math.hypot(ofOne.high - one, other - ofOther.low)),
  }
}

/** Steps of a bisection: each halves an interval that is at most 1 wide, so the result is exact to 2^-50. */
const BISECTIONS = 50

/**
 * Returns by how much the share of the messaged players must be above that of the control group to be found in four of five broadcasts, at
 * a significance of 5 % (two-sided): 0.009 are 0.9 percentage points. The formula is that of Fleiss, Levin and Paik, without a correction
 * for continuity, as R's power.prop.test has it, for groups of different sizes.
 * @param base the share of players who would claim without a message, from 0 to 1
 * @returns undefined if the groups are too small to show any difference, or if all players claim without a message
 */
export function smallestDifference(groups: { messaged: number; held: number; base: number }): number | undefined {
  return smallestAtPower(groups, Z_POWER)
}

/** The same for another probability of finding the difference. @param zPower its quantile of the normal distribution */
export function smallestAtPower(
  { messaged, held, base }: { messaged: number; held: number; base: number },
  zPower: number,
): number | undefined {
  if (messaged === 0 || held === 0 || base >= 1) return undefined
  const isFound = (difference: number): boolean => {
    const share = base + difference
    const pooled = (messaged * share + held * base) / (messaged + held)
    const ifEqual = Math.sqrt(pooled * (1 - pooled) * (1 / messaged + 1 / held))
    const ifDifferent = Math.sqrt((share * (1 - share)) / messaged + (base * (1 - base)) / held)
    return difference >= Z_INTERVAL * ifEqual + zPower * ifDifferent
  }
  // What is needed grows more slowly than the difference, so there is one point from which on a difference is found.
  let [low, high] = [0, 1 - base]
  if (!isFound(high)) return undefined
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2
    if (isFound(middle)) high = middle
    else low = middle
  }
  return high
}

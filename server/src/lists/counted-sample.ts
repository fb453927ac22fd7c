/** Draws conclusions about a whole table from a sample of its pages. */

/** The probability of a wrong conclusion that is accepted. */
const CHANCE = 1e-11

interface PagesSampled {
  /** The number of pages in the sample. */
  pages: number
  /** The number of sampled pages that contain a matching row. */
  hits: number
  /** The number of pages in the table. */
  allPages: number
  /** The number of matching rows that the table is suspected to exceed. */
  max: number
}

/**
 * Whether the table certainly has more than `max` matching rows. With `max` rows or fewer, at most `max` pages could contain one, and a
 * random sample would contain `hits` of those pages less than once in 10¹¹ samples. Pages are counted instead of rows because neighbouring
 * rows come into a sample together. The bound is Chernoff's: https://en.wikipedia.org/wiki/Chernoff_bound#Additive_form_(absolute_error)
 */
export function provesMore({ pages, hits, allPages, max }: PagesSampled): boolean {
  const share = Math.min(1, hits / pages)
  const shareAtMost = max / allPages
  if (!(share > shareAtMost)) return false
  return pages * divergence(share, shareAtMost) > -Math.log(CHANCE)
}

/** Returns the relative entropy (Kullback–Leibler divergence) of two Bernoulli distributions. */
function divergence(share: number, from: number): number {
  const part = (a: number, b: number): number => (a === 0 ? 0 : a * Math.log(a / b))
  return part(share, from) + part(1 - share, 1 - from)
}

/** The probability with which `poissonUpperLimit` is too low. */
const MAX_ERROR = 0.05

/**
 * Returns the upper confidence limit (95 %) of the mean of a Poisson distribution that yielded `found`: 3 for 0, 4.7 for 1, 6.3 for 2.
 */
export function poissonUpperLimit(found: number): number {
  let [low, high] = [found, 3 * found + 10]
  while (high - low > 0.001) {
    const expected = (low + high) / 2
    if (chanceOfAtMost(found, expected) > MAX_ERROR) low = expected
    else high = expected
  }
  return high
}

/** Returns the probability that a Poisson distribution with this mean yields at most `found`. */
function chanceOfAtMost(found: number, mean: number): number {
  let term = Math.exp(-mean)
  let sum = term
  for (let count = 1; count <= found; count += 1) {
    term *= mean / count
    sum += term
  }
  return sum
}

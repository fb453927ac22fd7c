/** What a sample of a table's pages proves of the whole table. */

/** The most that chance may have in it. */
const CHANCE = 1e-11

interface PagesSampled {
  /** Of the sample. */
  pages: number
  /** Those of them that hold a row which is looked for. */
  hits: number
  /** Of the table. */
  allPages: number
  /** A number of rows. */
  max: number
}

/**
 * Whether there are certainly more than `max` such rows. If there were not, no more than `max` of all pages could hold one, however the rows lie,
 * and chance would put so many of those into the sample less than once in 10¹¹. Pages are counted because rows that lie side by side
 * come into a sample together. The bound is Chernoff's: https://en.wikipedia.org/wiki/Chernoff_bound#Additive_form_(absolute_error)
 */
export function provesMore({ pages, hits, allPages, max }: PagesSampled): boolean {
  const share = Math.min(1, hits / pages)
  const shareAtMost = max / allPages
  if (!(share > shareAtMost)) return false
  return pages * divergence(share, shareAtMost) > -Math.log(CHANCE)
}

/** How far one share is from another, as the relative entropy (Kullback and Leibler) of yes and no. */
function divergence(share: number, from: number): number {
  const part = (a: number, b: number): number => (a === 0 ? 0 : a * Math.log(a / b))
  return part(share, from) + part(1 - share, 1 - from)
}

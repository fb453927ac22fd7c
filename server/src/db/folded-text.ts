/**
 * Folds texts for searches as Unicode describes it: full case folding and compatibility decomposition (NFKD). Marks, apostrophes and
 * characters without width are left out; all spaces and all hyphens are one. PostgreSQL folds both the rows and the searched text.
 * Generated columns store the folded text (searched-text.ts), so changing the folding requires a new column.
 */
import { ACUTE_ACCENT, LEFT_OUT_RANGES, LONG_LETTERS, PLAIN_LETTERS, SPACES_AND_HYPHENS } from '@arcade/contract/search'
import { lowerSql } from './collations.ts'

/** ASCII's spaces besides the ordinary one. */
const SPACES = String.raw`E'\t\n\x0b\f\r'`

/** In PostgreSQL's regular expressions, code points beyond the first plane have eight digits. */
const leftOut = LEFT_OUT_RANGES.replaceAll(/\\u\{(\w+)\}/g, (_, digits: string) => `\\U${digits.padStart(8, '0')}`)

/** Returns SQL for the folded text of `text`, which is SQL of one value, too. ASCII, the most frequent case, takes fewer steps. */
export function foldedSql(text: string): string {
  const { from, to } = SPACES_AND_HYPHENS
  const decomposed = lowerSql(
    `regexp_replace(normalize(translate(${text}, '${ACUTE_ACCENT}', ''), NFKD), '[${leftOut}]', '', 'g')`,
  )
  const long = Object.entries(LONG_LETTERS).reduce(
    (sql, [letter, plain]) => `replace(${sql}, '${letter}', '${plain}')`,
    decomposed,
  )
  return `(case when octet_length(${text}) = char_length(${text}) then translate(${lowerSql(text)}, ${SPACES} || '''\`', '     ')
    else translate(${long}, ${SPACES} || '${from}${PLAIN_LETTERS.from}', '     ${to}${PLAIN_LETTERS.to}') end collate "C")`
}

/**
 * Folds texts for searches, which ignore the case, width and diacritics of letters. PostgreSQL folds both the rows and the searched text.
 * Generated columns store the folded text (migration 0009), so changing the folding requires a new column.
 */
import { MARK_RANGES, STROKES } from '@arcade/contract/search'

/** Returns SQL for the folded text of `text`, which is SQL, too. ASCII, the most frequent case, is only converted to lower case. */
export function foldedSql(text: string): string {
  return `case when octet_length(${text}) = char_length(${text}) then lower(${text})
    else translate(lower(regexp_replace(normalize(${text}, NFKD), '[${MARK_RANGES}]', '', 'g')), '${STROKES.letters}ς', '${STROKES.plain}σ') end`
}

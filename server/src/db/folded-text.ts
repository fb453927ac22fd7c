/**
 * Texts as searches compare them: the same whatever the case, width and diacritics of letters. PostgreSQL works it out alike for rows and
 * for what is looked for. Stored columns are made of it (migration 0009), so that another folding is another column.
 */
import { MARK_RANGES, STROKES } from '@arcade/contract/search'

/** SQL for the folded text; `text` is SQL for a text. ASCII, which most texts are, takes the short way. */
export function foldedSql(text: string): string {
  return `case when octet_length(${text}) = char_length(${text}) then lower(${text})
    else translate(lower(regexp_replace(normalize(${text}, NFKD), '[${MARK_RANGES}]', '', 'g')), '${STROKES.letters}ς', '${STROKES.plain}σ') end`
}

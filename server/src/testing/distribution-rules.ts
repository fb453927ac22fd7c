/**
 * What Citus refuses of statements on distributed tables (docs/scaling.md), told from their text: the tests look at every statement that
 * they send, so that one which is valid on an ordinary PostgreSQL alone is found without a cluster.
 */
import { DISTRIBUTED_TABLES } from '#src/db/distribution.ts'

interface Rule {
  what: string
  breaks: (statement: string) => boolean
}

const players = `(${DISTRIBUTED_TABLES.join('|')})\\b`
const onePlayer = /\buser_id = (\$\d+|\d+)/

const rules: Rule[] = [
  {
    what: 'locks rows of many players (FOR UPDATE or SHARE)',
    breaks: (text) => /\bfor (no key |key )?(update|share)\b/.test(text) && !onePlayer.test(text),
  },
  { what: 'selects no column', breaks: (text) => new RegExp(`\\bselect from (\\(|${players})`).test(text) },
  {
    what: 'changes rows within WITH, of more than one player',
    breaks: (text) => /\(\s*(insert into|update|delete from) /.test(text) && !onePlayer.test(text),
  },
  {
    what: 'changes rows by a function that gives something else for each of them',
    breaks: (text) =>
      /^(with .*)?\b(update|delete)\b/.test(text) && /\b(random|gen_random_uuid|clock_timestamp|nextval)\(/.test(text),
  },
  {
    what: 'gives a moment of a changed row back as a text, which depends on the session',
    breaks: (text) => /\b(insert into|update|delete from) .*\breturning .*\bat::text\b/.test(text),
  },
  {
    what: 'moves a row to another player',
    breaks: (text) => /\bupdate (\w+)( as \w+)? set (?:(?! from | where ).)*\buser_id = /.test(text),
  },
  {
    what: 'looks counters’ changes up for each row of a local table',
    breaks: (text) => {
      const names = text.matchAll(/\b(?:counter_deltas where name = |uncounted_entries where \(kind, item_id\) = \()([^()]*)\)/g)
      return [...names].some(([, name = '']) => /[a-z_]/.test(name.replaceAll(/::\w+/g, '')))
    },
  },
  { what: 'wants one order of all transactions (SERIALIZABLE)', breaks: (text) => /\bisolation level serializable\b/.test(text) },
]

const isOnPlayers = new RegExp(`\\b${players}`)

/** Each fault as a sentence; none for a statement without a distributed table, and for definitions of tables and indexes. */
export function distributionFaults(statement: string): string[] {
  const text = plain(statement)
  if (!isOnPlayers.test(text) || /^(create|alter|drop|lock|comment|copy (?!\()|vacuum|analyze|truncate)\b/.test(text)) return []
  return rules.filter(({ breaks }) => breaks(text)).map(({ what }) => `${what}: ${statement.replaceAll(/\s+/g, ' ').trim()}`)
}

/** In lower case, without what stands in quotes, comments and repeated spaces. */
function plain(statement: string): string {
  return statement
    .replaceAll(/'(?:[^']|'')*'/g, `''`)
    .replaceAll(/--.*$|\/\*[\s\S]*?\*\//gm, '')
    .replaceAll(/["]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

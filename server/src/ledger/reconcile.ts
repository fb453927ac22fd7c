/**
 * Checks that every balance is the sum of its ledger entries, whose numbers have no gaps. One scan of each table proves this for
 * all players at once; only if it fails are players checked one by one.
 */
import type { Database } from '#src/db/database.ts'
import type { Snapshot } from '#src/db/snapshot.ts'

/** A player whose balance and entries do not match, and a sentence that says why. */
export interface LedgerFault {
  userId: number
  text: string
}

export interface Reconciled {
  players: number
  entries: number
}

/** Compares all balances with all entries in one snapshot, and reports the players whose balances are wrong, in the order of their ids. */
export async function reconcile(
  { snapshot }: Pick<Database, 'snapshot'>,
  onFault: (fault: LedgerFault) => void,
): Promise<Reconciled> {
  return snapshot(
    async (view) => {
      const [proof] = await view.query<Reconciled & { isWhole: boolean }>(PROOF)
      const { isWhole, ...counted } = proof!
      if (!isWhole)
        for (let after: number | null = Number.MIN_SAFE_INTEGER; after !== null;) after = await findFaults(view, after, onFault)
      return counted
    },
    { isOneMoment: true, hasHelpers: true },
  )
}

const BATCH = 1_000

/** Returns the player after whom to continue, or null at the end. */
async function findFaults(view: Snapshot, after: number, onFault: (fault: LedgerFault) => void): Promise<number | null> {
  const rows = await view.query<FaultRow>(FAULTS, [after])
  for (const row of rows) for (const text of textsOf(row)) onFault({ userId: row.userId, text })
  return rows.length === BATCH ? rows.at(-1)!.userId : null
}

/**
 * A player's entries are a chain of positions (number, balance). It begins at (0, 0), which the player's row stands for; each entry leads from
 * one position to the next; the chain ends at the position in the player's balance. So each position of each player occurs twice, once as an
 * end and once as a beginning, and the exclusive or of all their hashes is 0, which needs no sorting. That two differences of 64 bits cancel
 * each other is practically impossible.
 */
const START_HASH = 'hashint8extended(user_id, 0)'
const hashAt = (seq: string, balance: string, isFirst: string): string =>
  `case when ${isFirst} then ${START_HASH} else ${hashAfter(seq, balance)} end`
const hashAfter = (seq: string, balance: string): string => `hash_numeric_extended(${balance}, hashint8extended(user_id, ${seq}))`
const link = `${hashAfter('seq', 'balance')} # ${hashAt('seq - 1', 'balance - amount', 'seq = 1 and balance = amount')}`
const end = hashAt('entries', 'balance', 'entries = 0 and balance = 0')
const xorOf = (hashes: string): string => `coalesce(bit_xor(${hashes}), 0)`
const PROOF = `
  select players, entries, links # ends = beginnings as "isWhole"
    from (select count(*) as entries, ${xorOf(link)} as links from ledger_entries) as ledger,
         (select count(*) as players, ${xorOf(end)} as ends from balances) as totals,
         (select ${xorOf(START_HASH)} as beginnings from telegram_users) as people`

interface FaultRow {
  userId: number
  isPlayer: boolean
  balance: string | null
  counted: number | null
  total: string | null
  entries: number | null
  last: number | null
  unlinked: number | null
}

const FAULTS = `
  select user_id as "userId", t.user_id is not null as "isPlayer", b.balance::text as balance, b.entries as counted,
         l.total::text as total, l.entries, l.last, l.unlinked
    from telegram_users t full join balances b using (user_id) full join (
      select user_id, count(*) as entries, max(seq) as last, sum(amount) as total,
             min(seq) filter (where balance <> amount + before) as unlinked
        from (select user_id, seq, amount, balance, lag(balance, 1, 0) over (partition by user_id order by seq) as before
                from ledger_entries where user_id > $1) as entry
       group by user_id) as l using (user_id)
   where user_id > $1 and (t.user_id is null or b.user_id is null or b.balance <> coalesce(l.total, 0) or b.entries <> coalesce(l.entries, 0)
      or l.last <> l.entries or l.unlinked is not null)
   order by user_id limit ${BATCH}`

function textsOf({ isPlayer, balance, counted, total, entries, last, unlinked }: FaultRow): string[] {
  const found = entries ?? 0
  return [
    ...(isPlayer ? [] : ['there is no such player']),
    ...(balance === null ? ['there is no balance'] : []),
    ...(balance !== null && !isSame(balance, total ?? '0')
      ? [`the balance is ${balance}, the entries add up to ${total ?? '0'}`]
      : []),
    ...(counted !== null && counted !== found ? [`there should be ${counted} entries, there are ${found}`] : []),
    ...(last !== null && last !== found ? [`the last entry has the number ${last}, there are ${found}`] : []),
    ...(unlinked === null ? [] : [`the balance after entry ${unlinked} is not the balance before it plus its amount`]),
  ]
}

/** Whether two of PostgreSQL's decimals are the same number: `1.50` and `1.5` are. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text))
  return a === b
}

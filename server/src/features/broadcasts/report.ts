/**
 * What a broadcast has brought: how many players got the message, saw the announcement and claimed it, when, what that cost, and whether
 * they claimed more often than the control group. All from the rows of the players, at the moment of the call.
 */
import { type BroadcastReport, REPORT_HOURS } from '@arcade/contract/broadcasts/report'
import { newcombeInterval, smallestDifference } from '@arcade/contract/broadcasts/statistics'
import type { contract } from '@arcade/contract/contract'
import { OUTCOMES } from '#src/broadcasts/outcomes.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'

interface Head {
  number: number
  announcementId: string
  /** When the recipients were chosen, in the format of `isoSql`; null before. */
  startedAt: string | null
  /** The announcement's news number; null if it is deleted. */
  news: number | null
}

interface Groups {
  reached: number
  seen: number
  messaged: number
  messagedClaimed: number
  held: number
  heldClaimed: number
}

/** An hour, in the format of `isoSql`, with the messages sent, or the claims of reached players and what they paid. */
interface Hour {
  hour: string
  count: number
  cost?: number
}

const HOUR_MS = 60 * 60 * 1000

export function reportHandler({ database }: { database: Database }): Pick<Handlers<typeof contract.broadcasts>, 'report'> {
  const { reads } = database
  const readHead = reads.prepared<Head>('broadcast-report-head', HEAD)
  const readGroups = reads.prepared<Groups>('broadcast-report-groups', GROUPS)
  const readSent = reads.prepared<Hour>('broadcast-report-sent', SENT)
  const readClaims = reads.prepared<Required<Hour>>('broadcast-report-claims', CLAIMS)

  return {
    async report({ id }) {
      const [head] = await readHead([id])
      if (!head) throw new Failure('NO_SUCH_BROADCAST')
      const { number, announcementId, startedAt, news } = head
      if (startedAt === null) return nothing
      const [[groups], sent, claims] = await Promise.all([
        readGroups([number, announcementId, startedAt, news]),
        readSent([number]),
        readClaims([number, announcementId, startedAt]),
      ])
      const { reached, seen, ...compared } = groups!
      const claimed = claims.reduce((sum, { count }) => sum + count, 0)
      return {
        reached,
        // Players may claim between the two reads; those who claimed have also seen it.
        seen: Math.max(seen, claimed),
        claimed,
        cost: claims.reduce((sum, { cost }) => sum + cost, 0),
        hours: hoursOf(sent, claims),
        control: controlOf(compared),
      }
    },
  }
}

const nothing: BroadcastReport = { reached: 0, seen: 0, claimed: 0, cost: 0, hours: [], control: null }

/** Returns the hours from the first message or claim to the last one, without gaps. */
function hoursOf(sent: readonly Hour[], claims: readonly Hour[]): BroadcastReport['hours'] {
  const hours = [...sent, ...claims].map(({ hour }) => hour).toSorted()
  const [first, last] = [hours[0], hours.at(-1)]
  if (first === undefined || last === undefined) return []
  const sentIn = new Map(sent.map(({ hour, count }) => [hour, count]))
  const claimedIn = new Map(claims.map(({ hour, count }) => [hour, count]))
  const length = Math.min(REPORT_HOURS, (Date.parse(last) - Date.parse(first)) / HOUR_MS + 1)
  return Array.from({ length }, (_, index) => {
    const at = new Date(Date.parse(first) + index * HOUR_MS).toISOString()
    return { at, sent: sentIn.get(at) ?? 0, claimed: claimedIn.get(at) ?? 0 }
  })
}

function controlOf({
  messaged,
  messagedClaimed,
  held,
  heldClaimed,
}: Omit<Groups, 'reached' | 'seen'>): BroadcastReport['control'] {
  const found = newcombeInterval({ players: messaged, done: messagedClaimed }, { players: held, done: heldClaimed })
  if (!found) return null
  return {
    messaged: { players: messaged, claimed: messagedClaimed },
    held: { players: held, claimed: heldClaimed },
    ...found,
    smallestDifference: smallestDifference({ messaged, held, base: heldClaimed / held }) ?? null,
  }
}

const HEAD = `
  select number, announcement_id as "announcementId", ${isoSql('started_at')} as "startedAt",
         (select news from announcements where announcements.id = announcement_id) as news
    from broadcasts where id = $1`

const IS_SENT = `outcome = ${OUTCOMES.sent}`
const IS_HELD = `outcome = ${OUTCOMES.held}`
/**
 * Players of whom some were held back and all others were to get the message. Players who were skipped when the recipients were chosen
 * (without a time) are not among them; players who were skipped when their turn came are, since it could have happened to anybody.
 */
const IS_MESSAGED = `not ${IS_HELD} and (at is not null or outcome in (${OUTCOMES.pending}, ${OUTCOMES.sending}))`
/** The outcome is written when Telegram has answered, up to a minute after the player has the message. */
const arrivedSql = (at: string): string => `${at} - interval '1 minute'`
/** A claim before the broadcast cannot be repeated, so these players can show no difference. */
const COULD_CLAIM = `(claimed_at is null or claimed_at >= $3::timestamptz)`

/** One row: all recipients of the broadcast $1 of the announcement $2, by their claim since $3 and the news number $4 that they were shown. */
const GROUPS = `
  select count(*) filter (where ${IS_SENT}) as reached,
         count(*) filter (where ${IS_SENT} and (claimed_at >= ${arrivedSql('at')} or seen_status_epoch >= $4::bigint)) as seen,
         count(*) filter (where ${IS_MESSAGED} and ${COULD_CLAIM}) as messaged,
         count(*) filter (where ${IS_MESSAGED} and claimed_at >= $3::timestamptz) as "messagedClaimed",
         count(*) filter (where ${IS_HELD} and ${COULD_CLAIM}) as held,
         count(*) filter (where ${IS_HELD} and claimed_at >= $3::timestamptz) as "heldClaimed"
    from (select r.outcome, r.at, p.at as claimed_at, t.seen_status_epoch
            from broadcast_recipients r
            left join telegram_users t on t.user_id = r.user_id
            left join participations p on p.user_id = r.user_id and p.kind = 'announcement' and p.item_id = $2::text and p.period = ''
           where r.broadcast = $1::int) as recipients`

const hourSql = (moment: string): string => isoSql(`date_trunc('hour', ${moment}, 'UTC')`)

const SENT = `
  select ${hourSql('at')} as hour, count(*) as count from broadcast_recipients where broadcast = $1::int and ${IS_SENT} group by 1 order by 1`

/** The claims of players after they got the message, by hour. A reversal names its entry in its reference (ledger/adjustments.ts). */
const CLAIMS = `
  select ${hourSql('p.at')} as hour, count(*) as count, coalesce(sum(paid.amount + coalesce(back.amount, 0)), 0) as cost
    from participations p
    join broadcast_recipients r on r.user_id = p.user_id and r.broadcast = $1::int and r.${IS_SENT} and p.at >= ${arrivedSql('r.at')}
    left join ledger_entries paid on paid.user_id = p.user_id and paid.cause = 'claim' and paid.kind = 'announcement' and paid.item_id = $2::text
    left join ledger_entries back on back.user_id = paid.user_id and back.cause = 'reversal' and back.reference = paid.user_id || '-' || paid.seq
   where p.kind = 'announcement' and p.item_id = $2::text and p.period = '' and p.at >= $3::timestamptz
   group by 1 order by 1`

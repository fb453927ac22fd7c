/** Whether players find an announcement in the game when its message reaches them. */
import type { Announcement } from '@arcade/contract/announcements/fields'
import { momentText } from '#src/ui/moment.tsx'

type Dated = Pick<Announcement, 'status' | 'state' | 'startsAt' | 'endsAt'>

/**
 * Returns what an operator should know before a broadcast of the announcement; undefined if players will find it.
 * @param begins when the broadcast begins; undefined for at once
 */
export function availabilityNote({ status, state, startsAt, endsAt }: Dated, begins: number | undefined): string | undefined {
  const sent = begins ?? Date.now()
  if (state === 'full') return 'It is full: players get the message, but cannot claim it any more.'
  if (state === 'ended') return 'It has ended: players get the message, but cannot claim it any more.'
  if (endsAt !== null && Date.parse(endsAt) <= sent)
    return `It ends on ${momentText(endsAt)}, before the broadcast begins: players get the message, but cannot claim it any more.`
  if (status) return undefined
  if (state !== 'scheduled' || startsAt === null)
    return 'It is In Active: players get the message, but do not find it in the game until it is Active.'
  return Date.parse(startsAt) <= sent
    ? `It becomes Active by itself on ${momentText(startsAt)}, before the broadcast begins.`
    : `It becomes Active by itself on ${momentText(startsAt)}: players who get the message before that do not find it in the game yet.`
}

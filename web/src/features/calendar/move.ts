/** Moves of an item in the calendar: which ones are possible, what they do to players, and how they are saved. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { historyKindLabels } from '@arcade/contract/history/fields'
import { type TaskCollection, taskLists, type TaskType } from '@arcade/contract/tasks/fields'
import { isolated } from '@arcade/contract/text'
import { client } from '#src/client/client.ts'
import type { Question } from '#src/ui/question.ts'
import { movedBy, timeText, weekdayText } from '#src/ui/zoned-time.ts'
import { type Dates, dayOf } from './days.ts'

/** The part of an item that is moved: all of it, or only its start or end. */
export type Part = 'whole' | 'start' | 'end'

export function datesOf({ startsAt, endsAt }: Pick<CalendarItem, 'startsAt' | 'endsAt'>): Dates {
  return { startsAt: startsAt === null ? null : Date.parse(startsAt), endsAt: endsAt === null ? null : Date.parse(endsAt) }
}

/** The start of an active announcement has told the players already, so it stays where it is. */
export function isStartFixed({ kind, status }: Pick<CalendarItem, 'kind' | 'status'>): boolean {
  return kind === 'announcement' && status === true
}

/** Returns the dates after a part of the item was moved by minutes on the zone's clock. */
export function movedDates(
  item: Pick<CalendarItem, 'kind' | 'status'>,
  { startsAt, endsAt }: Dates,
  { part, minutes, zone }: { part: Part; minutes: number; zone: string },
): Dates {
  const moves = (other: Part, at: number | null) => part !== other && at !== null
  return {
    startsAt: moves('end', startsAt) && !isStartFixed(item) ? movedBy(startsAt!, minutes, zone) : startsAt,
    endsAt: moves('start', endsAt) ? movedBy(endsAt!, minutes, zone) : endsAt,
  }
}

/** Returns why an item cannot be moved, or what must be asked before; nothing if it can. */
export function checkMove(item: CalendarItem, to: Dates, now = Date.now()): { refusal?: string; question?: Question } {
  const from = datesOf(item)
  const title = isolated(item.title)
  const isStartMoved = to.startsAt !== from.startsAt
  if (to.startsAt !== null && to.endsAt !== null && to.endsAt <= to.startsAt)
    return { refusal: `${title} would end before it starts.` }
  if (to.endsAt !== from.endsAt && to.endsAt !== null && to.endsAt <= now)
    return { refusal: `${title} cannot end in the past. To end it now, select it in its list.` }
  if (isStartMoved && isStartFixed(item)) return { refusal: `${title} has started: its start stays.` }
  if (item.kind !== 'announcement' || !isStartMoved || to.startsAt === null || to.startsAt > now) return {}
  return {
    question: {
      title: 'Start now',
      message: `The start of ${title} would be in the past, so it starts at once: it becomes Active, and every player will have something new.`,
    },
  }
}

/** Returns an item's dates in words: `Fri, Nov 27, 06:00 PM – Sun, Nov 29, 08:00 PM`. */
export function datesText({ startsAt, endsAt }: Dates, zone: string): string {
  const text = (at: number) => `${weekdayText(at, zone)}, ${timeText(at, zone)}`
  if (startsAt !== null && endsAt !== null) {
    const isOneDay = dayOf(startsAt, zone) === dayOf(endsAt, zone)
    return `${text(startsAt)} – ${isOneDay ? timeText(endsAt, zone) : text(endsAt)}`
  }
  if (startsAt !== null) return `from ${text(startsAt)}`
  return endsAt === null ? 'no dates' : `until ${text(endsAt)}`
}

/** Returns the days of an item: `Nov 27 – Nov 29`. */
export function daysText({ startsAt, endsAt }: Dates, zone: string): string {
  const text = (at: number) => weekdayText(at, zone).replace(/^\w+, /, '')
  if (startsAt !== null && endsAt !== null) {
    const [first, last] = [text(startsAt), text(endsAt)]
    return first === last ? first : `${first} – ${last}`
  }
  if (startsAt !== null) return `from ${text(startsAt)}`
  return endsAt === null ? '' : `until ${text(endsAt)}`
}

/** The list of an item. */
export function listNameOf(kind: CalendarItem['kind']) {
  return kind === 'announcement' ? 'announcements' : taskLists[kind].name
}

export function kindText(kind: CalendarItem['kind']): string {
  return historyKindLabels[kind]
}

/** Saves the dates. An active announcement stays active. @throws CallError STALE if the item has changed since it was read */
export async function saveDates({ kind, id, version }: CalendarItem, to: Dates): Promise<void> {
  const dates = savedDates(to)
  if (kind === 'announcement') await saveAnnouncement(id, version, dates)
  else await saveTask(kind, id, version, dates)
}

type SavedDates = Record<keyof Dates, string | null>

/** Returns dates as calls take them. */
export function savedDates({ startsAt, endsAt }: Dates): SavedDates {
  const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  return { startsAt: iso(startsAt), endsAt: iso(endsAt) }
}

async function saveAnnouncement(id: string, version: number, dates: SavedDates): Promise<void> {
  const { type, title, subtitle, description, link, linkType, inputText, reward, verifiedByBot, status, ...more } =
    await client.announcements.get({ id })
  const { image, imageName, icon, iconName } = more
  const optional = {
    description: description ?? undefined,
    link: link ?? undefined,
    linkType: linkType ?? undefined,
    inputText: inputText ?? undefined,
  }
  const fields = { type, title, subtitle, ...optional, reward, verifiedByBot, image, imageName, icon, iconName }
  await client.announcements.update({ ...fields, ...dates, id, version, staysActive: status })
}

async function saveTask(collection: TaskCollection, id: string, version: number, dates: SavedDates): Promise<void> {
  const calls = client[taskLists[collection].name]
  const { priority, type, title, link, reward, verifiedByBot } = await calls.get({ id })
  const fields = { priority, type: type as TaskType, title, link: link ?? '', reward, verifiedByBot }
  await calls.update({ ...fields, ...dates, id, version })
}

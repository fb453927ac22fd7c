/** `From before`: fields that a move-in has kept beside a record, because the console does not know them. */
import type { contract } from '@arcade/contract/contract'
import { type PageKind, pageKinds } from '@arcade/contract/from-before/calls'
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { Permission } from '@arcade/contract/team/permissions'
import { recordPermissions } from '@arcade/contract/team/records'
import { type CallContext, type Handlers, rawNumber, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { itemSources } from '#src/db/entities.ts'
import { isoSql } from '#src/db/moments.ts'

/** The table of each kind, with the condition for the record whose id is $1. */
const sources: Record<PageKind, string> = {
  player: 'telegram_users where user_id = $1::bigint',
  user: 'users where id = $1',
  socialTask: itemSql('social'),
  dailyTask: itemSql('daily'),
  announcement: itemSql('announcement'),
  socialHistory: `history_items where kind = 'social' and item_id = $1`,
  dailyHistory: `history_items where kind = 'daily' and item_id = $1`,
  announcementHistory: `history_items where kind = 'announcement' and item_id = $1`,
}

/** The permissions that a caller must have, all of them. Documents of players and participations may hold anything about a person. */
const needs: Readonly<Record<PageKind, readonly Permission[]>> = {
  player: [recordPermissions.player.read, 'players.personal'],
  user: [recordPermissions.user.read],
  socialTask: [recordPermissions.socialTask.read],
  dailyTask: [recordPermissions.dailyTask.read],
  announcement: [recordPermissions.announcement.read],
  socialHistory: ['history.read'],
  dailyHistory: ['history.read'],
  announcementHistory: ['history.read'],
}
const participationNeeds: readonly Permission[] = ['history.read', 'players.personal']

/** @throws Failure FORBIDDEN */
function refuseWithoutAll(permissions: readonly Permission[], context: CallContext): void {
  for (const one of permissions) refuseWithoutPermission(one, signedIn(context))
}

function itemSql(kind: HistoryKind): string {
  const { entity, where } = itemSources[kind]
  return `${entity.table} where ${where} and id = $1`
}

/** $1 to $4: kind, item, player and time, as the list of participants has them. */
const PARTICIPATION = `participations where kind = $1 and item_id = $2 and user_id = $3::bigint and ${isoSql('at')} = $4`

/** A user id, with a minus for erased players. */
const PLAYER_ID = /^-?[1-9]\d{0,15}$/
/** Firestore has times apart from texts. */
const TIME = '__time__'

export function fromBeforeHandlers({ database }: { database: Database }): Handlers<typeof contract.fromBefore> {
  const prepare = (name: string, source: string) =>
    database.prepared<{ kept: string }>(
      `from-before-${name}`,
      `select from_before as kept from ${source} and from_before is not null limit 1`,
    )
  const readers = Object.fromEntries(pageKinds.map((kind) => [kind, prepare(kind, sources[kind])])) as Record<
    PageKind,
    ReturnType<typeof prepare>
  >
  const readParticipation = prepare('participation', PARTICIPATION)
  return {
    async get({ kind, id }, context) {
      refuseWithoutAll(needs[kind], context)
      if (kind === 'player' && !PLAYER_ID.test(id)) return { fields: [] }
      const [found] = await readers[kind]([id])
      return { fields: found ? shownFields(found.kept) : [] }
    },

    async ofParticipation({ kind, id, userId, timestamp }, context) {
      refuseWithoutAll(participationNeeds, context)
      const [found] = await readParticipation([kind, id, userId, timestamp])
      return { fields: found ? shownFields(found.kept) : [] }
    },
  }
}

/** Returns the members of a JSON object as texts. */
function shownFields(json: string): { name: string; value: string }[] {
  const fields = JSON.parse(json, keepDigits as (name: string, value: unknown) => unknown) as Record<string, unknown>
  return Object.entries(fields).map(([name, value]) => ({ name, value: shownValue(value) }))
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return value
  const time = (value as Record<string, unknown> | null)?.[TIME]
  return typeof time === 'string' ? time : JSON.stringify(value, null, 2)
}

/** Keeps numbers as they are written, because a double rounds those with many digits. */
function keepDigits(_name: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? rawNumber(source) : value
}

/** Notes of the team on players and items: which records have notes, and what one needs to read them. */
import { recordKindLabels } from '#src/audit/fields.ts'
import type { Permission } from '#src/team/permissions.ts'

/** The kinds of records that have notes, with their labels. */
export const noteKindLabels = {
  player: recordKindLabels.player,
  socialTask: recordKindLabels.socialTask,
  dailyTask: recordKindLabels.dailyTask,
  announcement: recordKindLabels.announcement,
} as const
export type NoteKind = keyof typeof noteKindLabels
export const noteKinds = Object.keys(noteKindLabels) as NoteKind[]

/** The permission to read a record of each kind, and with it its notes. */
export const notesNeed = {
  player: 'players.read',
  socialTask: 'tasks.read',
  dailyTask: 'tasks.read',
  announcement: 'announcements.read',
} as const satisfies Record<NoteKind, Permission>

export const MAX_NOTE_LENGTH = 2000
/** Most colleagues that one note may mention. */
export const MAX_MENTIONS = 20

/** How a note mentions a colleague. */
export function mentionOf(name: string): string {
  return `@${name.normalize('NFC')}`
}

/** Webhook events that the console sends to the game's bot. */
import type { AuditAction } from '#src/audit/fields.ts'

export const webhookEvents = {
  'announcement.activated': { label: 'An announcement was activated' },
  'task.changed': { label: 'A task was added, changed, moved, deleted or restored' },
  'item.started': { label: 'A task or announcement started at the time set for it' },
  'item.ended': { label: 'A task or announcement ended, at the time set for it or by hand' },
  'item.full': { label: 'A task or announcement has no place left, or no points left today' },
  'player.adjusted': { label: 'A player’s balance was adjusted, or an entry of it reversed' },
} as const
export type WebhookEvent = keyof typeof webhookEvents

/** The actions that cause an event, with the value of `data.change`. */
export const actsOfEvents: Readonly<Partial<Record<AuditAction, { event: WebhookEvent; change: string }>>> = {
  'announcement.activate': { event: 'announcement.activated', change: 'activated' },
  'item.start': { event: 'item.started', change: 'started' },
  'item.end': { event: 'item.ended', change: 'ended' },
  'announcement.end': { event: 'item.ended', change: 'ended' },
  'task.end': { event: 'item.ended', change: 'ended' },
  'item.full': { event: 'item.full', change: 'full' },
  'player.adjust': { event: 'player.adjusted', change: 'adjusted' },
  'player.reverse': { event: 'player.adjusted', change: 'reversed' },
  'task.create': { event: 'task.changed', change: 'added' },
  'task.update': { event: 'task.changed', change: 'changed' },
  'task.priority': { event: 'task.changed', change: 'moved' },
  'task.schedule': { event: 'task.changed', change: 'changed' },
  'task.pause': { event: 'task.changed', change: 'changed' },
  'task.resume': { event: 'task.changed', change: 'changed' },
  'task.remove': { event: 'task.changed', change: 'deleted' },
  'task.restore': { event: 'task.changed', change: 'restored' },
}

export const MAX_WEBHOOKS = 20

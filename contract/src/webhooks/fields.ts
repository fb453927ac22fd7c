/** Webhook events that the console sends to the game's bot. */
import type { AuditAction } from '#src/audit/fields.ts'

export const webhookEvents = {
  'announcement.activated': { label: 'An announcement was activated' },
  'task.changed': { label: 'A task was added, changed, moved, deleted or restored' },
  'player.adjusted': { label: 'A player’s balance was adjusted, or an entry of it reversed' },
} as const
export type WebhookEvent = keyof typeof webhookEvents

/** The actions that cause an event, with the value of `data.change`. */
export const actsOfEvents: Readonly<Partial<Record<AuditAction, { event: WebhookEvent; change: string }>>> = {
  'announcement.activate': { event: 'announcement.activated', change: 'activated' },
  'player.adjust': { event: 'player.adjusted', change: 'adjusted' },
  'player.reverse': { event: 'player.adjusted', change: 'reversed' },
  'task.create': { event: 'task.changed', change: 'added' },
  'task.update': { event: 'task.changed', change: 'changed' },
  'task.priority': { event: 'task.changed', change: 'moved' },
  'task.remove': { event: 'task.changed', change: 'deleted' },
  'task.restore': { event: 'task.changed', change: 'restored' },
}

export const WEBHOOKS_MAX = 20

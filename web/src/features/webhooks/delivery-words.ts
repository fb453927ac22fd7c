/** A delivery in words: what happened to which record, and how the receiver answered. */
import type { WebhookDelivery } from '@arcade/contract/webhooks/calls'
import { isBlank, isolated } from '@arcade/contract/text'

/** What happened, by the event and the value of `data.change` (contract/src/webhooks/fields.ts). */
const happenings: Readonly<Record<string, string>> = {
  'announcement.activated activated': 'Announcement activated',
  'task.changed added': 'Task added',
  'task.changed changed': 'Task changed',
  'task.changed moved': 'Task moved',
  'task.changed deleted': 'Task deleted',
  'task.changed restored': 'Task restored',
  'item.started started': 'Item started',
  'item.ended ended': 'Item ended',
  'item.full full': 'Item full',
  'player.adjusted adjusted': 'Balance adjusted',
  'player.adjusted reversed': 'Entry reversed',
}

interface Told {
  change?: string
  items?: { id?: unknown; title?: string }[]
}

/** Returns `Task changed: Follow us on X`, or `Task moved: Follow us on X and 2 more`. */
export function happeningOf({ event, payload }: Pick<WebhookDelivery, 'event' | 'payload'>): string {
  if (event === 'test') return 'Test'
  const { change = '', items = [] } = readData(payload)
  const what = happenings[`${event} ${change}`] ?? event
  const [first] = items
  if (!first) return what
  const name = isBlank(first.title) ? String(first.id) : isolated(first.title ?? '')
  return `${what}: ${name}${items.length > 1 ? ` and ${items.length - 1} more` : ''}`
}

function readData(payload: string): Told {
  return (JSON.parse(payload) as { data: Told }).data
}

/** Returns the payload over several lines. */
export function shownPayload(payload: string): string {
  return JSON.stringify(JSON.parse(payload), null, 2)
}

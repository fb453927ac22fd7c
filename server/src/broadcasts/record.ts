/** A broadcast as the audit names it, and who acts in it when no operator does. */
import { type Act, actOfProcess, type AuditRecord } from '#src/audit/audit.ts'

/** Returns a new act of the server itself: it begins, pauses and ends broadcasts. */
export function actOfServer(): Act {
  return actOfProcess('system', 'Broadcasts')
}

export function broadcastRecord({ id, title }: { id: string; title: string }): AuditRecord {
  return { kind: 'broadcast', id, name: title }
}

/** A broadcast as the audit names it. */
import type { AuditRecord } from '#src/audit/audit.ts'

export function broadcastRecord({ id, title }: { id: string; title: string }): AuditRecord {
  return { kind: 'broadcast', id, name: title }
}

/** What an entry of the audit trail changed, in words: each field by its label, its value before and after. */
import { announcementFields } from '@arcade/contract/entities/announcement'
import type { AuditChanges, AuditEntry, RecordKind } from '@arcade/contract/entities/audit'
import type { Field, Fields } from '@arcade/contract/entities/entity'
import { taskFields } from '@arcade/contract/entities/task'
import { userFields } from '@arcade/contract/entities/user'

const fieldsOf: Partial<Record<RecordKind, Fields>> = {
  user: userFields,
  socialTask: taskFields,
  dailyTask: taskFields,
  announcement: announcementFields,
}

/** A line for each field: `Title: A → B`. Null for an act that changed nothing of its record. */
export function changesText({ recordKind, changes }: Pick<AuditEntry, 'recordKind' | 'changes'>): string | null {
  if (changes === null) return null
  const fields = recordKind === null ? undefined : fieldsOf[recordKind]
  const lines = Object.entries(JSON.parse(changes) as AuditChanges).map(([name, [before, after]]) => {
    const field = fields?.[name]
    const label = field?.label ?? name
    if (before === null) return `${label}: ${valueText(after, field)}`
    return `${label}: ${valueText(before, field)} → ${valueText(after, field)}`
  })
  return lines.join('\n')
}

function valueText(value: unknown, field: Field | undefined): string {
  if (value === null || value === undefined) return '–'
  if (field?.kind === 'choice' && typeof value === 'string') return field.options[value] ?? value
  return typeof value === 'string' ? value : JSON.stringify(value)
}

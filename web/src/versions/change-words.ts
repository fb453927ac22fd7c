/** Describes the changes of an act in words: each field's label, and its value before and after. */
import { announcementFields } from '@arcade/contract/announcements/fields'
import type { AuditChanges, RecordKind } from '@arcade/contract/audit/fields'
import type { Field, Fields } from '@arcade/contract/entity'
import { roleSettingLabels } from '@arcade/contract/team/permissions'
import { taskFields, taskTypeLabels } from '@arcade/contract/tasks/fields'
import { userFields } from '@arcade/contract/users/fields'
import { isolated } from '@arcade/contract/text'
import { momentText } from '#src/ui/moment.tsx'
import { exactly } from '#src/ui/numbers.ts'
import { capitalised } from '#src/ui/words.ts'

export interface ChangeInWords {
  name: string
  label: string
  /** Null if there was no value. */
  before: string | null
  after: string | null
}

interface KindOfRecord {
  fields: Fields
  /** Words for values that the field's declaration does not have. */
  words?: Readonly<Record<string, (value: unknown) => string | undefined>>
}

const taskWords = { type: (value: unknown) => (taskTypeLabels as Readonly<Record<string, string>>)[String(value)] }
const fileWords = (key: unknown) => String(key).replace(/^announcements\/\d{13}_/, '')

const { seesPersonal, ...limits } = roleSettingLabels
const limitFields: Fields = Object.fromEntries(
  Object.entries(limits).map(([name, label]) => [name, { label, kind: 'number', isOptional: true }]),
)
const roleFields: Fields = { seesPersonal: { label: seesPersonal, kind: 'flag' }, ...limitFields }

const kinds: Partial<Record<RecordKind, KindOfRecord>> = {
  user: { fields: userFields },
  socialTask: { fields: taskFields, words: taskWords },
  dailyTask: { fields: taskFields, words: taskWords },
  role: { fields: roleFields },
  announcement: {
    fields: announcementFields,
    words: { status: (value) => (value === true ? 'Active' : 'In Active'), image: fileWords, icon: fileWords }, // sic, §2
  },
}

/** A file and its name are shown as one field. */
const namesOfFiles: Readonly<Record<string, string>> = { imageName: 'image', iconName: 'icon' }

/** @param changes the entry's changes as JSON; null for an act that changed no field of its record */
export function changesInWords(recordKind: RecordKind | null, changes: string | null): ChangeInWords[] {
  return changes === null ? [] : changedInWords(recordKind, JSON.parse(changes) as AuditChanges)
}

export function changedInWords(recordKind: RecordKind | null, changed: AuditChanges): ChangeInWords[] {
  return Object.entries(changed).flatMap(([name, [before, after]]) => {
    const file = namesOfFiles[name]
    if (file !== undefined && file in changed) return []
    const words = { before: valueInWords(recordKind, name, before), after: valueInWords(recordKind, name, after) }
    const isOther = words.after !== null && words.before === words.after
    return [{ name, label: labelOf(recordKind, name), ...words, ...(isOther && { after: `${words.after} (another file)` }) }]
  })
}

/** Returns one line for each field: `Title: A → B`. */
export function changesText(changes: readonly ChangeInWords[]): string {
  const lines = changes.map(({ label, before, after }) =>
    [`${label}:`, ...(before === null ? [] : [isolated(before), '→']), isolated(after ?? '–')].join(' '),
  )
  return lines.join('\n')
}

/** Returns the field's label, or its name in words: `rowCount` becomes `Row Count`. */
export function labelOf(recordKind: RecordKind | null, name: string): string {
  const label = recordKind === null ? undefined : kinds[recordKind]?.fields[name]?.label
  return label ?? capitalised(name).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
}

/** Returns field names in the order of the entity's declaration. */
export function inOrder(recordKind: RecordKind, names: readonly string[]): string[] {
  const declared = Object.keys(kinds[recordKind]?.fields ?? {})
  return names.toSorted((a, b) => declared.indexOf(a) - declared.indexOf(b))
}

/** Returns the value in words; null if it is missing. */
export function valueInWords(recordKind: RecordKind | null, name: string, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  const kind = recordKind === null ? undefined : kinds[recordKind]
  return kind?.words?.[name]?.(value) ?? ofField(value, kind?.fields[name])
}

function ofField(value: unknown, field: Field | undefined): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'number') return exactly(value)
  if (typeof value !== 'string') return JSON.stringify(value)
  if (field?.kind === 'moment') return momentText(value)
  return field?.kind === 'choice' ? (field.options[value] ?? value) : value
}

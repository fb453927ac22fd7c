/** The actor and the record of an audit entry: as text, and as links to all entries by that actor or about that record. */
import { actorKindLabels, type AuditEntry } from '@arcade/contract/audit/fields'
import { historyKindLabels } from '@arcade/contract/history/fields'
import { isolated } from '@arcade/contract/text'
import { Link } from '@tanstack/react-router'
import { labelOf } from '#src/versions/change-words.ts'
import classes from './audit-page.module.css'

/** Returns the actor's name as it stands in a sentence, and the kind of actor if it is not a user. */
export function actorText({ actorName, actorKind, actorId }: AuditEntry): { name: string; kind?: string } {
  const kind = actorKindLabels[actorKind]
  if (actorKind === 'guest') return { name: 'A guest' }
  if (actorName === null) return { name: actorId === null ? kind : `Erased ${kind.toLowerCase()}` }
  const name = isolated(actorName)
  return actorKind === 'user' ? { name } : { name, kind }
}

/** Returns the record's name, as it stands in a sentence, or its id; undefined if the entry concerns no record. */
export function recordText({ recordKind, recordId, recordName }: AuditEntry): string | undefined {
  if (recordId !== null && recordKind === 'list') return listText(recordId)
  const text = recordName ?? recordId
  return text === null ? undefined : isolated(text)
}

/** Returns the name of a list, such as `History, Social Task`. It leaves out the id of a History item, which means nothing to people. */
function listText(id: string): string {
  const [list = '', kind = ''] = id.split(':')
  const label = (historyKindLabels as Readonly<Record<string, string>>)[kind]
  return label === undefined ? labelOf(null, list) : `${labelOf(null, list)}, ${label}`
}

/** A name without a link. Its tooltip has the whole name, because the cell may cut it off. */
function Name({ text }: { text: string | undefined }) {
  return (
    <span className={classes['name']} title={text}>
      {text}
    </span>
  )
}

export function ActorLink({ entry }: { entry: AuditEntry }) {
  const { name } = actorText(entry)
  if (entry.actorId === null) return <Name text={name} />
  return (
    <Link to="/audit" search={{ actorId: entry.actorId }} title={`All that ${name} did`} className={classes['name'] ?? ''}>
      {name}
    </Link>
  )
}

export function RecordLink({ entry }: { entry: AuditEntry }) {
  const { recordId, recordKind } = entry
  const name = recordText(entry)
  if (recordId === null) return <Name text={name} />
  return (
    <Link
      to="/audit"
      search={{ recordId, ...(recordKind !== null && { recordKind }) }}
      title={`All that happened to ${name}`}
      className={classes['name'] ?? ''}
    >
      {name}
    </Link>
  )
}

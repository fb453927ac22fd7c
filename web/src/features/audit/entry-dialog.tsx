/** All details of an audit entry: exact time, actor, address and device, record, request, every changed field and any other detail. */
import { actorKindLabels, type AuditEntry, auditActionLabels, recordKindLabels } from '@arcade/contract/audit/fields'
import { collectionOf, taskCollections } from '@arcade/contract/tasks/fields'
import { Link } from '@tanstack/react-router'
import { type ReactNode } from 'react'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { Dialog } from '#src/ui/dialog.tsx'
import { ExactMoment } from '#src/ui/moment.tsx'
import { changesInWords, labelOf } from '#src/versions/change-words.ts'
import { ChangesList } from '#src/versions/changes-list.tsx'
import classes from './audit-page.module.css'
import { actorText, recordText } from './entry-links.tsx'

/** @param props.entry the entry to show; undefined closes the dialog */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry | undefined; onClose: () => void }) {
  return (
    <Dialog isOpen={entry !== undefined} onClose={onClose} title="View More" isWide>
      {entry && <Entry entry={entry} />}
    </Dialog>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const changes = changesInWords(entry.recordKind, entry.changes)
  const details = entry.detail === null ? [] : Object.entries(JSON.parse(entry.detail) as Record<string, unknown>)
  return (
    <>
      <dl className={classes['facts']}>
        <Fact label="What">{auditActionLabels[entry.action] ?? entry.action}</Fact>
        <Fact label="When">
          <ExactMoment iso={entry.at} />
        </Fact>
        <Fact label="Who">
          {actorText(entry).name}
          {entry.actorKind !== 'user' && ` (${actorKindLabels[entry.actorKind]})`}
        </Fact>
        <Fact label="Record">{entry.recordKind && <RecordFact entry={entry} />}</Fact>
        <Fact label="Address">{entry.address}</Fact>
        <Fact label="Device">{entry.device}</Fact>
        <Fact label="Site">{entry.origin}</Fact>
        <Fact label="Request">
          <span className={classes['copyable']}>
            {entry.actId}
            <CopyButton label="Request" text={entry.actId} />
          </span>
        </Fact>
        <Fact label="No.">{entry.seq}</Fact>
      </dl>
      {changes.length > 0 && (
        <>
          <h3 className={classes['heading']}>Changes</h3>
          <ChangesList changes={changes} />
        </>
      )}
      {details.length > 0 && (
        <>
          <h3 className={classes['heading']}>Details</h3>
          <dl className={classes['facts']}>
            {details.map(([name, value]) => (
              <Fact key={name} label={labelOf(null, name)}>
                {detailText(value)}
              </Fact>
            ))}
          </dl>
        </>
      )}
    </>
  )
}

/** Renders nothing if there is no value. */
function Fact({ label, children }: { label: string; children: ReactNode }) {
  if (children === null || children === undefined) return null
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** The record's name, as a link to its form or page if it has one. */
function RecordFact({ entry }: { entry: AuditEntry }) {
  const { recordKind, recordId, action } = entry
  const text = `${recordText(entry) ?? ''}${recordKind ? ` (${recordKindLabels[recordKind]})` : ''}`
  if (recordId === null || action.endsWith('.remove')) return text
  const search = { id: recordId }
  if (recordKind === 'announcement')
    return (
      <Link to="/annoucement-form-update" search={search}>
        {text}
      </Link>
    )
  if (recordKind === 'player')
    return (
      <Link to="/manage-telegram-users/$userId" params={{ userId: recordId }} preload={false}>
        {text}
      </Link>
    )
  if (recordKind !== 'socialTask' && recordKind !== 'dailyTask') return text
  const { path } = taskCollections[collectionOf[recordKind]]
  return (
    <Link to={`${path}-form-update`} search={search}>
      {text}
    </Link>
  )
}

function detailText(value: unknown): string {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const lines = Object.entries(value).map(([name, inner]) => `${labelOf(null, name)}: ${detailText(inner)}`)
    return lines.length === 0 ? '–' : lines.join('\n')
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

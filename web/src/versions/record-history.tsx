/**
 * The history of a task, announcement or user, beside its form. It is collapsed, and loaded when opened. Restoring an earlier version is a
 * new change, after a preview (restore.tsx).
 */
import type { RecordEntry } from '@arcade/contract/audit/calls'
import { auditActionLabels, actorKindLabels } from '@arcade/contract/audit/fields'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { Moment } from '#src/ui/moment.tsx'
import { Panel, Problem } from '#src/ui/page.tsx'
import { changesInWords } from './change-words.ts'
import { ChangesList } from './changes-list.tsx'
import { useRestore, type Restorable } from './restore.tsx'
import classes from './record-history.module.css'

export function RecordHistory(props: Restorable) {
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  return (
    <Panel labelledBy={id}>
      <h2 className={classes['heading']}>
        <button
          type="button"
          id={id}
          className={classes['toggle']}
          aria-expanded={isOpen}
          aria-controls={`${id}-entries`}
          onClick={() => setIsOpen(!isOpen)}
        >
          History of changes
          <span aria-hidden className={classes['arrow']} data-open={isOpen || undefined} />
        </button>
      </h2>
      <div id={`${id}-entries`}>{isOpen && <Entries {...props} />}</div>
    </Panel>
  )
}

function Entries(props: Restorable) {
  const { kind, id } = props
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    api.audit.ofRecord.infiniteOptions({
      input: (after: string | undefined) => ({ kind, id, ...(after !== undefined && { after }) }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ after }) => after ?? undefined,
    }),
  )
  const restore = useRestore(props)
  const entries = data?.pages.flatMap((page) => page.entries)
  if (!entries) {
    if (error) return <Problem {...problemOf(error, () => void refetch())} />
    return <output>Loading...</output>
  }
  const oldest = hasNextPage ? undefined : entries.findLast((entry) => versionOf(entry) !== undefined)
  if (entries.length === 0) return <p className={classes['none']}>Nothing has been changed yet.</p>
  return (
    <>
      <ol className={classes['entries']} aria-label="Changes, newest first">
        {entries.map((entry, index) => (
          <li key={entry.seq} className={classes['entry']}>
            <div className={classes['head']}>
              <p className={classes['act']}>
                <Moment iso={entry.at} /> · <strong>{actorOf(entry)}</strong> · {actText(entry)}
              </p>
              {index > 0 && versionOf(entry) !== undefined && (
                <RestoreButton label="Restore this version" seq={entry.seq} onClick={() => void restore(entry)} />
              )}
              {/* Imported records have no entry for their first version. */}
              {entry === oldest && versionOf(entry) !== FIRST_VERSION && (
                <RestoreButton
                  label="Restore the version before this"
                  seq={entry.seq}
                  onClick={() => void restore({ seq: 0, at: entry.at })}
                />
              )}
            </div>
            <ChangesList changes={changesInWords(kind, entry.changes)} />
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  )
}

function actorOf({ actorName, actorKind }: RecordEntry): string {
  return isolated(actorName ?? actorKindLabels[actorKind])
}

function actText({ action, detail }: RecordEntry): string {
  const { restoredFrom } = detail === null ? {} : (JSON.parse(detail) as { restoredFrom?: number })
  const text = auditActionLabels[action] ?? action
  return restoredFrom === undefined ? text : `${text}: an earlier version came back`
}

const FIRST_VERSION = 1

/** Returns the version that an act left the record in; undefined for an act without one, such as a password change. */
function versionOf({ detail }: RecordEntry): number | undefined {
  return detail === null ? undefined : (JSON.parse(detail) as { version?: number }).version
}

interface RestoreButtonProps {
  label: string
  /** The entry's number, which distinguishes buttons with the same label for assistive technology. */
  seq: number
  onClick: () => void
}

function RestoreButton({ label, seq, onClick }: RestoreButtonProps) {
  const id = useId()
  return (
    <Button variant="default" size="compact-sm" aria-describedby={id} onClick={onClick}>
      {label}
      <span id={id} hidden>
        {`No. ${seq}`}
      </span>
    </Button>
  )
}

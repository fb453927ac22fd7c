/**
 * What became of a task, announcement or dashboard user: below its form, collapsed and not loaded until one opens it. An earlier version is
 * brought back as a new change (`restore`), after a look at what it would change.
 */
import type { RecordEntry } from '@arcade/contract/audit'
import { auditActionLabels, actorKindLabels } from '@arcade/contract/entities/audit'
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api, asCallError } from '#src/client.ts'
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
    if (error) return <Problem message={asCallError(error).message} onRetry={() => void refetch()} />
    return <output>Loading...</output>
  }
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
              {index > 0 && isVersion(entry) && (
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-describedby={`version-${entry.seq}`}
                  onClick={() => void restore(entry)}
                >
                  Restore this version
                  <span id={`version-${entry.seq}`} hidden>
                    {`No. ${entry.seq}`}
                  </span>
                </Button>
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
  return actorName ?? actorKindLabels[actorKind]
}

function actText({ action, detail }: RecordEntry): string {
  const { restoredFrom } = detail === null ? {} : (JSON.parse(detail) as { restoredFrom?: number })
  const text = auditActionLabels[action] ?? action
  return restoredFrom === undefined ? text : `${text}: an earlier version came back`
}

/** Acts that left the record in a version of its own; a password, say, is none. */
function isVersion({ detail }: RecordEntry): boolean {
  return detail !== null && 'version' in (JSON.parse(detail) as object)
}

/** The choice of the announcement that a broadcast sends, and what is to be known of it before. */
import { toBotItem } from '@arcade/contract/announcements/bot-item'
import type { Announcement } from '@arcade/contract/announcements/fields'
import { textProblem } from '@arcade/contract/bot-message'
import { isolated } from '@arcade/contract/text'
import type { View } from '@arcade/contract/views/calls'
import { Button } from '@mantine/core'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { editHref } from '#src/lists/form-hrefs.ts'
import { type PlayersAddress, segmentAddress } from '#src/lists/segments.ts'
import { AppLink } from '#src/ui/app-link.tsx'
import { SearchSelect } from '#src/ui/search-select.tsx'
import { availabilityNote } from './availability.ts'
import classes from './broadcasts.module.css'

/** Loads the chosen announcement. */
export function useAnnouncement(id: string | undefined) {
  return useQuery(api.announcements.get.queryOptions({ input: { id: id ?? '' }, enabled: id !== undefined }))
}

interface AnnouncementFieldProps {
  id: string | undefined
  announcement: UseQueryResult<Announcement>
  /** When the broadcast begins, once that is known; undefined for at once. */
  begins: number | undefined
  /** How often the form was sent. */
  attempts: number
  /** The form was sent without one. */
  isMissing: boolean
  onChange: (id: string | undefined) => void
}

export function AnnouncementField({ id, announcement, begins, attempts, isMissing, onChange }: AnnouncementFieldProps) {
  const container = useRef<HTMLDivElement>(null)
  const titles = useQuery(api.history.titles.queryOptions({ input: { kind: 'announcement' } }))
  const options = titles.data?.items.filter(({ isDeleted }) => !isDeleted).map((item) => ({ value: item.id, label: item.title }))
  useEffect(() => {
    if (attempts > 0 && isMissing) container.current?.querySelector('input')?.focus()
  }, [attempts, isMissing])
  return (
    <div ref={container} className={classes['stack']}>
      <SearchSelect
        label="Announcement to send"
        value={id}
        options={options}
        onChange={onChange}
        placeholder="Search announcements"
        emptyText={options?.length === 0 ? 'There is no announcement yet.' : 'No announcement matches.'}
        error={isMissing ? 'Choose an announcement' : undefined}
        isRequired
      />
      <div aria-live="polite" className={classes['notes']}>
        {titles.isError && <p className={classes['problem']}>The announcements could not be loaded.</p>}
        {id !== undefined && announcement.error && (
          <p className={classes['problem']}>{asCallError(announcement.error).message}</p>
        )}
        {announcement.data && <Notes announcement={announcement.data} begins={begins} />}
      </div>
    </div>
  )
}

interface SegmentNoteProps {
  segment: View
  onChoose: (players: PlayersAddress) => void
}

/** Says that the recipients are not the segment that the announcement is for, and offers that segment. */
export function SegmentNote({ segment, onChoose }: SegmentNoteProps) {
  const name = isolated(segment.name)
  const players = segmentAddress(segment)
  return (
    <div className={classes['segmentNote']}>
      <p>
        {players ? `It is only for the players of ${name}: others get the message, but cannot claim it.` : nobodyText(segment)}
      </p>
      {players && (
        <Button variant="default" size="compact-md" onClick={() => onChoose(players)}>
          Send to {name}
        </Button>
      )}
    </div>
  )
}

/** Says who can claim an announcement for this segment. */
export function claimantsText(segment: View): string {
  return segmentAddress(segment) ? `Only the players of ${isolated(segment.name)} can claim it.` : nobodyText(segment)
}

function nobodyText({ name }: View): string {
  return `Nobody can claim it: it is for the players of ${isolated(name)}, and a part of this view cannot be read.`
}

/** What an operator may have overlooked. */
function Notes({ announcement, begins }: { announcement: Announcement; begins: number | undefined }) {
  const { id } = announcement
  const availability = availabilityNote(announcement, begins)
  const problem = textProblem(toBotItem(announcement))
  const edit = <AppLink href={editHref('/annoucement-form', id)}>Change it</AppLink>
  return (
    <>
      {problem !== undefined && (
        <p className={classes['problem']}>
          {problem} {edit}
        </p>
      )}
      {availability !== undefined && (
        <p>
          {availability} {edit}
        </p>
      )}
    </>
  )
}

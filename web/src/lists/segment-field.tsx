/** The field of a form that chooses for which players an item is: all, or those of a segment, with how many they are now. */
import { isolated } from '@arcade/contract/text'
import { listPaths } from '@arcade/contract/lists'
import { NativeSelect } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { type Ref, useId } from 'react'
import type { Count } from '@arcade/contract/field-schemas'
import { api } from '#src/client/client.ts'
import { countText } from '#src/ui/numbers.ts'
import { segmentFilter, useSegments } from './segments.ts'
import classes from './segment-field.module.css'

interface SegmentFieldProps {
  label: string
  /** The id of the segment; '' for all players. */
  value: string
  onChange: (segmentId: string) => void
  onBlur?: () => void
  /** What the choice without a segment says. */
  everyone?: string
  error?: string | undefined
  ref?: Ref<HTMLSelectElement>
}

export function SegmentField({ label, value, onChange, onBlur, everyone = 'All players', error, ref }: SegmentFieldProps) {
  const hint = useId()
  const { segments, isLost } = useSegments()
  const chosen = segments?.find(({ id }) => id === value)
  const filter = chosen && segmentFilter(chosen)
  const count = useQuery(api.players.count.queryOptions({ input: filter ?? {}, enabled: filter !== undefined }))
  // A segment that is not shared any more, or whose list is still loaded, stays chosen.
  const isMissing = value !== '' && !chosen
  return (
    <div className={classes['field']}>
      <NativeSelect
        ref={ref}
        label={label}
        value={value}
        error={error}
        aria-describedby={hint}
        onChange={({ target }) => onChange(target.value)}
        onBlur={onBlur}
        data={[
          { value: '', label: everyone },
          ...(isMissing ? [{ value, label: segments ? 'A segment that is gone' : 'Loading…' }] : []),
          ...(segments ?? []).map(({ id, name }) => ({ value: id, label: isolated(name) })),
        ]}
      />
      <p id={hint} className={classes['hint']} aria-live="polite">
        {isLost ? (
          'The segments could not be loaded.'
        ) : chosen ? (
          <>
            {filter ? countedText(count) : '0 players now: a part of this view cannot be read'} ·{' '}
            <a href={`${listPaths.telegramUsers}?${chosen.address}`} target="_blank" rel="noreferrer">
              {filter ? 'See them' : 'See the view'}
            </a>
          </>
        ) : (
          segments?.length === 0 && (
            <>
              A segment is a view of{' '}
              <a href={listPaths.telegramUsers} target="_blank" rel="noreferrer">
                Telegram Users
              </a>{' '}
              that is saved and shared. There is none yet.
            </>
          )
        )}
      </p>
    </div>
  )
}

function countedText({ data, isError }: UseQueryResult<Count>): string {
  if (data) return `${countText(data, 'player')} now`
  return isError ? 'They could not be counted' : 'Counting…'
}

/** The number of participants of a task or announcement (§2), as a link to the list of participants. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { formatted } from '#src/ui/numbers.ts'
import { CellLink } from './row-buttons.tsx'

export function ParticipantsLink({ kind, id, count }: { kind: HistoryKind; id: string; count: number }) {
  const tab = kind === 'announcement' ? '' : `tab=${kind}&`
  return (
    <CellLink href={`/history?${tab}item=${encodeURIComponent(id)}`} title="Who took part">
      {formatted(count)}
    </CellLink>
  )
}

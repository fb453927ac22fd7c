/** The number of participants of a task or announcement (§2), as a link to the list of participants. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { useMay } from '#src/session.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { historyHref } from './form-hrefs.ts'
import { CellLink } from './row-buttons.tsx'

export function ParticipantsLink({ kind, id, count }: { kind: HistoryKind; id: string; count: number }) {
  if (!useMay('history.read')) return formatted(count)
  return (
    <CellLink href={historyHref(kind, id)} title="Who took part">
      {formatted(count)}
    </CellLink>
  )
}

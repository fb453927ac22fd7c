/** What a move-in has kept of a participation, in a dialog that its row opens. */
import type { ListedParticipant } from '@arcade/contract/history/calls'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, fetchOnce } from '#src/client/client.ts'
import { Dialog } from '#src/ui/dialog.tsx'
import { Problem } from '#src/ui/page.tsx'
import { FROM_BEFORE_NOTE, KeptFields } from '#src/versions/from-before.tsx'
import { Spinner } from './spinner.tsx'

type Participation = Pick<ListedParticipant, 'id' | 'timestamp'>

/** `open` shows a participation and stays the same function between renders. The caller renders `dialog` once. */
export function useParticipationFromBefore(item: { kind: HistoryKind; id: string }): {
  open: (participation: Participation) => void
  dialog: ReactNode
} {
  const [participation, open] = useState<Participation>()
  return {
    open,
    dialog: (
      <Dialog
        isOpen={participation !== undefined}
        onClose={() => open(undefined)}
        title="From before"
        isWide
        description={FROM_BEFORE_NOTE}
      >
        {participation && <Kept of={item} participation={participation} />}
      </Dialog>
    ),
  }
}

function Kept({ of: { kind, id }, participation }: { of: { kind: HistoryKind; id: string }; participation: Participation }) {
  const { id: userId, timestamp } = participation
  const input = { kind, id, userId, timestamp }
  const { data, error, refetch } = useQuery(api.fromBefore.ofParticipation.queryOptions({ input, ...fetchOnce }))
  if (data) return <KeptFields fields={data.fields} />
  return error ? <Problem {...problemOf(error, () => void refetch())} /> : <Spinner />
}

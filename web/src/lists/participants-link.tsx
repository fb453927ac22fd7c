/** The number of participants of a task or announcement (§2), as a link to the list of participants. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { formatted } from '#src/ui/numbers.ts'

export function ParticipantsLink({ kind, id, count }: { kind: HistoryKind; id: string; count: number }) {
  const search = { ...(kind !== 'announcement' && { tab: kind }), item: id }
  return (
    <Anchor
      renderRoot={(props) => <Link to="/history" search={search} preload={false} {...props} />}
      inherit
      c="inherit"
      title="Who took part"
    >
      {formatted(count)}
    </Anchor>
  )
}

/** The buttons that block and unblock the selected players of the list. */
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client } from '#src/client.ts'
import { bulkEnd } from '#src/lists/acts.tsx'
import { asAct, useUndo } from '#src/lists/undo.ts'
import { BulkButton, type Selection, useBulk } from '#src/lists/selection.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { ReasonDialog } from './reason-dialog.tsx'

const nounFor = (count: string): string => (count === '1' ? playerList.noun.one : playerList.noun.many)

/** Blocking more players than this at once asks for their number. */
const TYPED_ABOVE = 100

/** Says why some of the selected players, whether picked or found by a filter, will not be blocked. */
function othersOf({ count: selected, isMore }: Selection<PlayersFilter>, affected: number): string {
  const others = selected - affected
  if (isMore || others <= 0) return ''
  return ` Of ${formatted(selected)} selected, ${formatted(others)} ${others === 1 ? 'is' : 'are'} blocked already or erased.`
}

export function BlockButtons({ selection }: { selection: Selection<PlayersFilter> }) {
  const undo = useUndo(playerList)
  const runBulk = useBulk()
  const [isAsking, setIsAsking] = useState(false)
  const { target } = selection
  const end = bulkEnd(playerList, selection)

  const handleReason = async (reason: string) => {
    setIsAsking(false)
    void runBulk({
      ...end,
      title: 'Block players',
      typedAbove: { rows: TYPED_ABOVE, Field: TextInput },
      question: (count, affected) =>
        `Are you sure you want to block ${count} ${nounFor(count)}? They can claim nothing until they are unblocked.${othersOf(selection, affected)}`,
      run: async (run) => {
        const { answer, actId } = await asAct((options) => client.players.block({ target, reason, ...run }, options))
        return { ...answer, undo: undo.ofChange(actId) }
      },
      successText: (count) => `${count} ${nounFor(count)} blocked.`,
    })
  }

  return (
    <>
      <Button variant="default" size="compact-sm" aria-haspopup="dialog" onClick={() => setIsAsking(true)}>
        Block
      </Button>
      <ReasonDialog
        title="Block Players"
        who="A blocked player"
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onReason={handleReason}
      />
      <BulkButton
        act={{
          ...end,
          title: 'Unblock players',
          question: (count) => `Are you sure you want to unblock ${count} ${nounFor(count)}?`,
          run: async (run) => {
            const { answer, actId } = await asAct((options) => client.players.unblock({ target, ...run }, options))
            return { ...answer, undo: undo.ofChange(actId) }
          },
          successText: (count) => `${count} ${nounFor(count)} unblocked.`,
        }}
      >
        Unblock
      </BulkButton>
    </>
  )
}

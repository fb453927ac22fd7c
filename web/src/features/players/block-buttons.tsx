/** The buttons that block and unblock the selected players of the list. */
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { useRef, useState } from 'react'
import { client } from '#src/client/client.ts'
import { bulkEnd } from '#src/lists/acts.tsx'
import { useUndo } from '#src/lists/undo.ts'
import { type BulkAct, BulkButton, type BulkDone } from '#src/lists/bulk-act.tsx'
import type { Selection } from '#src/lists/selection.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { BlockPlayersDialog } from './block-players-dialog.tsx'
import { blockingMeans } from './reason-dialog.tsx'

const players = (count: number): string => counted(count, playerList.noun.one, playerList.noun.many)

/** Says why some of the selected players, whether picked or found by a filter, will not be blocked. */
function othersOf({ count: selected, isMore }: Selection<PlayersFilter>, affected: number): string {
  const others = selected - affected
  if (isMore || others <= 0) return ''
  return ` Of ${formatted(selected)} selected, ${formatted(others)} ${others === 1 ? 'is' : 'are'} blocked already or erased.`
}

export function BlockButtons({ selection }: { selection: Selection<PlayersFilter> }) {
  const undo = useUndo(playerList)
  const { target } = selection
  const end = bulkEnd(playerList, selection)
  return (
    <>
      <BlockButton selection={selection} />
      <BulkButton
        act={{
          ...end,
          title: 'Unblock players',
          question: (count) => `Are you sure you want to unblock ${players(count)}?`,
          confirmLabel: (count) => `Unblock ${players(count)}`,
          run: (run) => undo.change((options) => client.players.unblock({ target, ...run }, options)),
          successText: (count) => `${players(count)} unblocked.`,
        }}
      >
        Unblock
      </BulkButton>
    </>
  )
}

/** What the dry run found, and how the dialog answers. */
interface Asking {
  planned: BulkDone
  answer: (isConfirmed: boolean) => void
}

function BlockButton({ selection }: { selection: Selection<PlayersFilter> }) {
  const undo = useUndo(playerList)
  const [asking, setAsking] = useState<Asking>()
  const reason = useRef('not asked yet') // the dry run sends this one, and nobody sees it
  const { target } = selection

  const act: BulkAct = {
    ...bulkEnd(playerList, selection),
    title: 'Block players',
    question: (count) => {
      const consequence = count === 1 ? blockingMeans('This player') : blockingMeans('They', 'the balances stay')
      return `Are you sure you want to block ${players(count)}? ${consequence}${othersOf(selection, count)}`
    },
    confirmLabel: (count) => `Block ${players(count)}`,
    ask: (planned) => new Promise((answer) => setAsking({ planned, answer })),
    run: (run) => undo.change((options) => client.players.block({ target, reason: reason.current, ...run }, options)),
    successText: (count) => `${players(count)} blocked.`,
  }
  const close = (isConfirmed: boolean) => {
    setAsking(undefined)
    asking?.answer(isConfirmed)
  }

  return (
    <>
      <BulkButton act={act}>Block</BulkButton>
      <BlockPlayersDialog
        act={act}
        planned={asking?.planned}
        onReason={(typed) => {
          reason.current = typed
          close(true)
        }}
        onClose={() => close(false)}
      />
    </>
  )
}

/** The notice about a blocked or erased player, and the menu to block, unblock and erase. Erasing needs two confirmations (ADR 22). */
import { isErased, type Player, playerList, playerName } from '@arcade/contract/players/fields'
import type { BulkOutput } from '@arcade/contract/bulk'
import type { PlayerBlock } from '@arcade/contract/players/calls'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { asCallError, type CallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { asAct, type ActOptions, useUndo } from '#src/lists/undo.ts'
import { useMay } from '#src/session.tsx'
import { useConfirm } from '#src/ui/confirm.tsx'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { useForm } from '#src/ui/form.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Pane } from '#src/ui/pane.tsx'
import { toast } from '#src/ui/toast.tsx'
import { forgetOpened } from '#src/ui/visit.ts'
import { useAskedAct } from './asked-act.ts'
import classes from './player-standing.module.css'
import { ReasonDialog } from './reason-dialog.tsx'

interface StandingProps {
  player: Player & { block: PlayerBlock | null }
}

/** The notice above the summary of a blocked or erased player; renders nothing for other players. */
export function PlayerNotice({ player }: StandingProps) {
  const { block } = player
  if (isErased(player))
    return (
      <output className={classes['notice']}>
        <strong>Erased.</strong> Who this was is not known any more; what happened to the balance is kept.
      </output>
    )
  if (!block) return null
  return (
    <output className={classes['notice']} data-blocked>
      <strong>Blocked</strong> by {isolated(block.by ?? 'somebody')} on <Moment iso={block.at} />: {block.reason}
    </output>
  )
}

/** The menu with Block and Erase, as far as the role may. An erased player has none, because nothing more can be done. */
export function PlayerActs({ player }: StandingProps) {
  const [isOpen, setIsOpen] = useState(false)
  const container = useRef<HTMLDivElement>(null)
  const focusMenu = () => container.current?.querySelector('button')?.focus()
  const block = useBlock(player)
  const erase = useErase(player, focusMenu)
  const mayBlock = useMay('players.block')
  const mayErase = useMay('players.erase')
  if (isErased(player) || (!mayBlock && !mayErase)) return null

  const blockText = player.block ? 'Unblock' : 'Block'
  const title = [mayBlock && blockText, mayErase && 'Erase'].filter(Boolean).join(' or ')
  /** The button in the menu is about to disappear, so the dialog that opens must return the focus to the menu's own button. */
  const leaveMenuAnd = (act: () => void) => () => {
    focusMenu()
    setIsOpen(false)
    act()
  }
  return (
    <div ref={container} className={classes['acts']}>
      <Pane
        isOpen={isOpen}
        onChange={setIsOpen}
        title={title}
        isUntitled
        className={classes['menu']}
        button={{ children: title, rightSection: <IconChevronDown size={16} aria-hidden /> }}
      >
        {mayBlock && (
          <Button variant="subtle" color="gray" justify="flex-start" onClick={leaveMenuAnd(block.begin)}>
            {`${blockText} Player`}
          </Button>
        )}
        {mayErase && (
          <Button variant="subtle" color="red" justify="flex-start" onClick={leaveMenuAnd(erase.begin)}>
            Erase Player
          </Button>
        )}
      </Pane>
      {block.dialog}
      {erase.dialog}
    </div>
  )
}

/** Blocks the player after a reason was typed, or unblocks after a question. The caller renders `dialog` and calls `begin`. */
function useBlock(player: StandingProps['player']): { begin: () => void; dialog: ReactNode } {
  const { userId, block } = player
  const name = isolated(playerName(player))
  const change = useBlockChange(String(userId), name)
  const confirm = useConfirm()
  const [isAsking, setIsAsking] = useState(false)
  const target = { ids: [String(userId)] }

  const handleReason = async (reason: string) => {
    const refusal = await change((options) => client.players.block({ target, reason }, options), `${name} blocked.`)
    if (!refusal) setIsAsking(false)
    return refusal
  }
  const unblock = async () => {
    const message = `Are you sure you want to unblock ${name}?`
    if (!(await confirm({ title: 'Unblock player', message }))) return
    await change((options) => client.players.unblock({ target }, options), `${name} unblocked.`)
  }
  useAskedAct('block', () => setIsAsking(!block))
  useAskedAct('unblock', () => block && void unblock())

  return {
    begin: () => (block ? void unblock() : setIsAsking(true)),
    dialog: <ReasonDialog name={name} isOpen={isAsking} onClose={() => setIsAsking(false)} onReason={handleReason} />,
  }
}

/**
 * Returns a function that blocks or unblocks the player and shows the outcome as a toast. It resolves with the error if the call failed.
 * @param name the player's isolated name, which is part of every toast, because the page may show another player by then
 */
function useBlockChange(id: string, name: string) {
  const undo = useUndo(playerList)
  return async (run: (options: ActOptions) => Promise<BulkOutput>, text: string): Promise<CallError | undefined> => {
    try {
      const { answer, actId } = await asAct(run)
      const action = undo.ofChange(actId, { id, title: name })
      // Somebody else was first: this call changed nothing, so there is nothing to undo.
      if (answer.affected === 0) toast.failure(`${name}: ${answer.refusals[0]?.reason ?? 'This player does not exist any more.'}`)
      else toast.success(text, action && { action })
      return undefined
    } catch (cause) {
      const failure = asCallError(cause)
      toast.failure(`${name}: ${failure.message}`)
      return failure
    } finally {
      void refreshAfterActOn(playerList.name)
    }
  }
}

/** Erases the player after the id was typed and a question. The caller renders `dialog` and calls `begin`. */
function useErase(player: StandingProps['player'], focusMenu: () => void): { begin: () => void; dialog: ReactNode } {
  const { userId } = player
  const name = isolated(playerName(player))
  const confirm = useConfirm()
  const navigate = useNavigate()
  const [isOpen, setIsOpen] = useState(false)

  const handleTyped = async () => {
    setIsOpen(false)
    // The confirmation opened over a dialog that is closed now, so the focus has to be put back on the menu's button.
    const message = `Nothing brings a player back who was erased. Are you sure you want to erase ${name}?`
    if (!(await confirm({ title: 'Erase player', message, confirmLabel: 'Erase for ever', isDestructive: true })))
      return focusMenu()
    try {
      const erased = await client.players.erase({ userId, confirmation: userId })
      forgetOpened(`player ${userId}`)
      toast.success(`${name} erased.`)
      await navigate({ to: '/manage-telegram-users/$userId', params: { userId: String(erased.userId) }, replace: true })
    } catch (cause) {
      toast.failure(`${name}: ${asCallError(cause).message}`)
    }
    await refreshAfterActOn(playerList.name)
  }

  return {
    begin: () => setIsOpen(true),
    dialog: (
      <FormDialog isOpen={isOpen} onClose={() => setIsOpen(false)} title="Erase Player">
        <EraseForm userId={userId} name={name} onTyped={() => void handleTyped()} onClose={() => setIsOpen(false)} />
      </FormDialog>
    ),
  }
}

interface EraseFormProps {
  userId: number
  name: string
  onTyped: () => void
  onClose: () => void
}

function EraseForm({ userId, name, onTyped, onClose }: EraseFormProps) {
  const form = useForm(() => import('@arcade/contract/players/calls').then(({ typedIdOf }) => typedIdOf(userId)), {
    typed: '' as unknown as number,
  })
  return (
    <DialogForm
      form={form}
      onSubmit={async () => onTyped()}
      label="Erase Player"
      submitLabel="Erase player"
      onCancel={onClose}
      isDestructive
    >
      <p className={classes['consequence']}>
        Names, handles, addresses, wallets and inputs of {name} go for ever, also from the audit. So do saved views that look for
        this player, and reasons of blocks that others share. Entries and participations stay under a number that is nobody’s.
      </p>
      <NumberField control={form.control} name="typed" label={`Type the user id ${userId}`} isRequired />
    </DialogForm>
  )
}

/** Whether a player may play: what it says of who is blocked or erased, and the buttons that change it. Erasing is asked for twice (ADR 22). */
import { isErased, type Player, playerList } from '@arcade/contract/entities/player'
import type { PlayerBlock } from '@arcade/contract/players'
import { Button, Modal, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { asCallError, client } from '#src/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { asAct, type ActOptions, useUndo } from '#src/lists/undo.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './player-standing.module.css'
import { ReasonButton } from './reason-dialog.tsx'

interface StandingProps {
  player: Player & { block: PlayerBlock | null }
}

/** Stands above the player's cards; nothing for who may play. */
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
      <strong>Blocked</strong> by {block.by ?? 'somebody'} on <Moment iso={block.at} />: {block.reason}
    </output>
  )
}

/** The buttons; nothing more can be done with who is erased. */
export function PlayerActs({ player }: StandingProps) {
  if (isErased(player)) return null
  return (
    <div className={classes['acts']}>
      {player.block ? <UnblockButton player={player} /> : <BlockButton player={player} />}
      <EraseButton player={player} />
    </div>
  )
}

function BlockButton({ player: { userId } }: StandingProps) {
  const change = useBlockChange()
  const run = (reason: string) => (options: ActOptions) =>
    client.players.block({ target: { ids: [String(userId)] }, reason }, options)
  return (
    <ReasonButton title="Block Player" onReason={(reason) => void change(run(reason), 'Player blocked.')}>
      Block Player
    </ReasonButton>
  )
}

function UnblockButton({ player: { userId } }: StandingProps) {
  const change = useBlockChange()
  const confirm = useConfirm()
  const handleClick = async () => {
    const message = 'Are you sure you want to unblock this player?'
    if (!(await confirm({ title: 'Unblock player', message }))) return
    await change((options) => client.players.unblock({ target: { ids: [String(userId)] } }, options), 'Player unblocked.')
  }
  return (
    <Button variant="default" onClick={() => void handleClick()}>
      Unblock Player
    </Button>
  )
}

function useBlockChange() {
  const undo = useUndo(playerList)
  return async (run: (options: ActOptions) => Promise<unknown>, text: string) => {
    try {
      const { actId } = await asAct(run)
      const action = undo.ofChange(actId)
      toast.success(text, action && { action })
    } catch (cause) {
      toast.failure(asCallError(cause).message)
    }
    await refreshAfterActOn(playerList.name)
  }
}

const LAST_QUESTION = 'Nothing brings a player back who was erased. Are you sure?'

function EraseButton({ player: { userId } }: StandingProps) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const [isOpen, setIsOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()

  const handleOpen = () => {
    setTyped('')
    setProblem(undefined)
    setIsOpen(true)
  }
  const handleSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (typed.trim() !== String(userId)) return setProblem('This is not the player’s user id')
    setIsOpen(false)
    if (!(await confirm({ title: 'Erase player', message: LAST_QUESTION, isDestructive: true }))) return
    try {
      const erased = await client.players.erase({ userId, confirmation: userId })
      toast.success('Player erased.')
      await navigate({ to: '/manage-telegram-users/$userId', params: { userId: String(erased.userId) }, replace: true })
    } catch (cause) {
      toast.failure(asCallError(cause).message)
    }
    await refreshAfterActOn(playerList.name)
  }

  return (
    <>
      <Button variant="outline" color="red" aria-haspopup="dialog" onClick={handleOpen}>
        Erase Player
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Erase Player">
        <form onSubmit={(event) => void handleSubmit(event)} noValidate>
          <Stack>
            <p className={classes['consequence']}>
              Names, handles, addresses, wallets and inputs go for ever, also from the audit. Entries and participations stay
              under a number that is nobody’s.
            </p>
            <TextInput
              label={`Type the user id ${userId}`}
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              error={problem}
              onChange={({ currentTarget }) => {
                setTyped(currentTarget.value)
                setProblem(undefined)
              }}
              data-autofocus
            />
            <Button type="submit" color="red">
              Continue
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

/** The dialogs that change a balance (design §7): an adjustment with its reason, and the reversal of an entry. Each says whose balance it is. */
import type { ExplainedEntry } from '@arcade/contract/balances'
import type { Player } from '@arcade/contract/entities/player'
import type { AdjustmentInput, ReversalInput } from '@arcade/contract/ledger'
import { Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { client, creation } from '#src/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { DialogForm } from '#src/ui/dialog-form.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { TextareaField, useForm } from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { Balance } from './balance.tsx'
import { Signed, wordsOf } from './entry-words.tsx'
import classes from './player-page.module.css'
import { nameOf, refreshPlayer } from './player-data.ts'

interface DialogProps {
  player: Player
  onClose: () => void
}

export function AdjustDialog({ isOpen, ...props }: DialogProps & { isOpen: boolean }) {
  return (
    <Modal opened={isOpen} onClose={props.onClose} title="Adjust Balance">
      <AdjustForm {...props} />
    </Modal>
  )
}

function AdjustForm({ player, onClose }: DialogProps) {
  const { userId } = player
  const form = useForm(() => import('@arcade/contract/ledger').then(({ adjustmentInput }) => adjustmentInput), {
    amount: '' as unknown as number,
    reason: '',
  })
  const [createOnce] = useState(creation)

  const handleSubmit = async (input: AdjustmentInput) => {
    try {
      await createOnce((options) => client.balances.adjust({ userId, ...input }, options))
    } catch (cause) {
      return showFailure(cause)
    }
    toast.success('Balance adjusted.')
    onClose()
    await refreshPlayer(userId)
    return undefined
  }

  return (
    <DialogForm form={form} onSubmit={handleSubmit} label="Adjust Balance" onCancel={onClose}>
      <Facts player={player} />
      <NumberField
        control={form.control}
        name="amount"
        label="Amount"
        description="Above 0 it is given, below 0 it is taken."
        isRequired
      />
      <TextareaField control={form.control} name="reason" label="Reason" isRequired rows={3} />
    </DialogForm>
  )
}

interface ReverseProps extends DialogProps {
  /** After the ledger shows the reversal. */
  onReversed: () => void
}

/** @param props.entry undefined: the dialog is closed */
export function ReverseDialog({ entry, ...props }: ReverseProps & { entry: ExplainedEntry | undefined }) {
  const [last, setLast] = useState(entry) // stays while the dialog closes
  if (entry && entry !== last) setLast(entry)
  return (
    <Modal opened={entry !== undefined} onClose={props.onClose} title={`Reverse entry ${last?.seq}`}>
      {last && <ReverseForm entry={last} {...props} />}
    </Modal>
  )
}

function ReverseForm({ player, entry, onClose, onReversed }: ReverseProps & { entry: ExplainedEntry }) {
  const { userId } = player
  const form = useForm(() => import('@arcade/contract/ledger').then(({ reversalInput }) => reversalInput), { reason: '' })
  const [createOnce] = useState(creation)
  const amount = Math.abs(entry.amount).toLocaleString('en-US', { maximumFractionDigits: 20 })

  const handleSubmit = async (input: ReversalInput) => {
    try {
      const { isFirst } = await createOnce((options) => client.balances.reverse({ userId, entryId: entry.id, ...input }, options))
      toast.success(isFirst ? 'Entry reversed.' : 'This entry had been reversed already.')
    } catch (cause) {
      return showFailure(cause)
    }
    onClose()
    await refreshPlayer(userId)
    onReversed()
    return undefined
  }

  return (
    <DialogForm form={form} onSubmit={handleSubmit} label={`Reverse entry ${entry.seq}`} onCancel={onClose}>
      <Facts player={player}>
        <div>
          <dt>Entry {entry.seq}</dt>
          <dd>
            <span className={classes['value']}>
              {wordsOf(entry)} (<Signed amount={entry.amount} />)
            </span>
          </dd>
        </div>
      </Facts>
      <p className={classes['consequence']}>
        {entry.amount < 0 ? `${amount} is given back` : `${amount} is taken back`} by an entry of its own, which cannot be
        reversed.
        {entry.item && ' What was claimed stays done.'}
      </p>
      <TextareaField control={form.control} name="reason" label="Reason" isRequired rows={3} />
    </DialogForm>
  )
}

/** Whose balance it is, and what it is now. */
function Facts({ player, children }: { player: Player; children?: ReactNode }) {
  const { userId, balance } = player
  const name = nameOf(player)
  return (
    <dl className={classes['facts']} data-dialog>
      <div>
        <dt>Player</dt>
        <dd>
          <span className={classes['value']}>{name === String(userId) ? name : `${name} (${userId})`}</span>
        </dd>
      </div>
      <div>
        <dt>Present balance</dt>
        <dd>
          <Balance amount={balance} />
        </dd>
      </div>
      {children}
    </dl>
  )
}

/** The dialogs that change a balance: one adjusts it, one reverses an entry. Both ask for a reason and name the player. */
import type { ExplainedEntry } from '@arcade/contract/balances/calls'
import { type Player, playerName } from '@arcade/contract/players/fields'
import type { adjustmentInput, AdjustmentInput, ReversalInput } from '@arcade/contract/ledger/calls'
import { isolated } from '@arcade/contract/text'
import { type ReactNode, useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { asCallError } from '#src/client/call-error.ts'
import { api, client, makeCreateOnce, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { TextareaField, useForm } from '#src/ui/form.tsx'
import { exactly, exactSum } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import { Balance } from './balance.tsx'
import { Signed, wordsOf } from './entry-words.tsx'
import classes from './player-page.module.css'
import { refreshPlayer } from './player-data.ts'

interface DialogProps {
  player: Player
  onClose: () => void
}

export function AdjustDialog({ isOpen, ...props }: DialogProps & { isOpen: boolean }) {
  return (
    <FormDialog isOpen={isOpen} onClose={props.onClose} title="Adjust Balance">
      <AdjustForm {...props} />
    </FormDialog>
  )
}

function AdjustForm({ player, onClose }: DialogProps) {
  const { userId } = player
  const [schema, setSchema] = useState<Schema>()
  const form = useForm(
    () => import('@arcade/contract/ledger/calls').then((ledger) => storeSchema(ledger.adjustmentInput, setSchema)),
    {
      amount: '' as unknown as number,
      reason: '',
    },
  )
  const [createOnce] = useState(makeCreateOnce)
  const newBalance = useNewBalance(form.control, schema, player.balance)
  const limitText = useLimitText()

  const handleSubmit = async (input: AdjustmentInput) => {
    try {
      await createOnce((options) => client.balances.adjust({ userId, ...input }, options))
    } catch (cause) {
      const error = asCallError(cause)
      if (error.code !== 'BALANCE_TOO_LOW') return showFailure(error)
      // The balance has fallen meanwhile. Once the new one is shown, the field of the amount says that it is too high.
      await refreshPlayer(userId)
      const balance = queryClient.getQueryData(api.players.get.queryKey({ input: { userId } }))?.balance
      return balance !== undefined && exactSum(balance, input.amount) < 0 ? undefined : error
    }
    toast.success(`Balance of ${isolated(playerName(player))} adjusted.`)
    onClose()
    await refreshPlayer(userId)
    return undefined
  }

  return (
    <DialogForm
      form={form}
      onSubmit={handleSubmit}
      label="Adjust Balance"
      submitLabel="Adjust balance"
      onCancel={onClose}
      isHeld={newBalance.isTooLow}
    >
      <Facts player={player}>
        <div>
          <dt>New balance</dt>
          <dd>
            <output>{newBalance.sum === undefined ? '–' : <Balance amount={newBalance.sum} />}</output>
          </dd>
        </div>
      </Facts>
      <NumberField
        control={form.control}
        name="amount"
        label="Amount"
        description={`Above 0 it is given, below 0 it is taken.${limitText}`}
        error={newBalance.isTooLow ? 'The balance would go below 0' : undefined}
        isRequired
      />
      <TextareaField control={form.control} name="reason" label="Reason" isRequired rows={3} />
    </DialogForm>
  )
}

/** Returns what the person's role may give or take at most, as further sentences of the description; empty without a limit. */
function useLimitText(): string {
  const { data } = useQuery(api.team.ownLimits.queryOptions({ staleTime: 0 }))
  if (!data) return ''
  const { maxAdjustment, maxAdjustedDaily, leftToday } = data
  const once = maxAdjustment === null ? '' : ` At most ${exactly(maxAdjustment)} at once.`
  const day =
    maxAdjustedDaily === null ? '' : ` You have ${exactly(leftToday ?? 0)} of ${exactly(maxAdjustedDaily)} left today (UTC).`
  return once + day
}

type Schema = typeof adjustmentInput

/** Passes the schema to `setSchema` and returns it. */
function storeSchema(schema: Schema, setSchema: (schema: Schema) => void): Schema {
  setSchema(schema)
  return schema
}

/** Returns the balance that the typed amount would lead to. `sum` is undefined until the amount is valid and its schema is loaded. */
function useNewBalance(
  control: Control<z.input<Schema>, unknown, AdjustmentInput>,
  schema: Schema | undefined,
  balance: number,
): { sum: number | undefined; isTooLow: boolean } {
  const typed = useWatch({ control, name: 'amount' })
  const amount = schema?.shape.amount.safeParse(typed).data
  const sum = amount === undefined ? undefined : exactSum(balance, amount)
  return { sum, isTooLow: sum !== undefined && amount !== undefined && sum < 0 && amount < 0 }
}

interface ReverseProps extends DialogProps {
  /** Called once the ledger shows the reversal. */
  onReversed: () => void
}

/** @param props.entry the entry to reverse; undefined closes the dialog */
export function ReverseDialog({ entry, ...props }: ReverseProps & { entry: ExplainedEntry | undefined }) {
  return (
    <FormDialog isOpen={entry !== undefined} onClose={props.onClose} title={`Reverse entry ${entry?.seq}`}>
      {entry && <ReverseForm entry={entry} {...props} />}
    </FormDialog>
  )
}

function ReverseForm({ player, entry, onClose, onReversed }: ReverseProps & { entry: ExplainedEntry }) {
  const { userId } = player
  const form = useForm(() => import('@arcade/contract/ledger/calls').then(({ reversalInput }) => reversalInput), { reason: '' })
  const [createOnce] = useState(makeCreateOnce)
  const amount = exactly(Math.abs(entry.amount))

  const handleSubmit = async (input: ReversalInput) => {
    try {
      const { isFirst } = await createOnce((options) => client.balances.reverse({ userId, entryId: entry.id, ...input }, options))
      toast.success(
        `Entry ${entry.seq} of ${isolated(playerName(player))} ${isFirst ? 'reversed.' : 'had been reversed already.'}`,
      )
    } catch (cause) {
      return showFailure(cause)
    }
    onClose()
    await refreshPlayer(userId)
    onReversed()
    return undefined
  }

  return (
    <DialogForm
      form={form}
      onSubmit={handleSubmit}
      label={`Reverse entry ${entry.seq}`}
      submitLabel={`Reverse entry ${entry.seq}`}
      onCancel={onClose}
    >
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

/** Shows the player and the present balance. */
function Facts({ player, children }: { player: Player; children?: ReactNode }) {
  const { userId, balance } = player
  const name = playerName(player)
  return (
    <dl className={classes['facts']} data-dialog>
      <div>
        <dt>Player</dt>
        <dd>
          <span className={classes['value']}>{name === String(userId) ? name : `${isolated(name)} (${userId})`}</span>
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

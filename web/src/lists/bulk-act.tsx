/** Bulk acts: a dry run, the confirmation of what it would do, and the act itself. */
import type { BulkOutput } from '@arcade/contract/bulk'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useConfirm } from '#src/ui/confirm.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { type EndBusy, markPickedBusy } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'
import classes from './bulk-act.module.css'

/** The result of a bulk act, with the Undo button and the detail of its toast. */
export type BulkDone = Omit<BulkOutput, 'success'> & {
  undo?: { label: string; onClick: () => void } | undefined
  detail?: string
}

export interface BulkAct {
  /** The title of the confirmation, such as `Delete users`. */
  title: string
  /**
   * Returns the confirmation's text: `Are you sure you want to delete 3 users?`
   * @param count the number of affected rows
   */
  question: (count: number) => string
  /** Returns what the button of the confirmation says: `Delete 3 users`. */
  confirmLabel: (count: number) => string
  /** Asks in a dialog of the act's own, instead of the confirmation. Resolves with false after Cancel. */
  ask?: (planned: BulkDone) => Promise<boolean>
  isDestructive?: boolean
  run: (options: { dryRun: true } | { expected: number }) => Promise<BulkDone>
  /** A second confirmation, for an act that cannot be undone. */
  lastQuestion?: string
  successText: (count: number) => string
  /** Returns the message for a failed call. */
  messageOf: (error: unknown) => string
  /**
   * Runs after the act succeeded or failed, but not after Cancel. Resolves once the list has been reloaded.
   * @param isDone whether the act has succeeded, or the rows are gone
   */
  onEnd: (isDone: boolean) => Promise<void>
}

/** Returns a function that runs a bulk act: dry run, one confirmation with its summary, then the act. */
export function useBulk(): (act: BulkAct) => Promise<void> {
  const confirm = useConfirm()
  return (act) => runBulk(act, confirm)
}

interface BulkButtonProps {
  act: BulkAct
  /** There is nothing to act on. The button stays focusable. */
  isOff?: boolean
  /** Stands beside the page's heading, where buttons are larger than in the selection bar. */
  isInPageHead?: boolean
  children: ReactNode
}

/** A button that starts a bulk act. */
export function BulkButton({ act, isOff = false, isInPageHead = false, children }: BulkButtonProps) {
  const start = useBulk()
  const [isBusy, setIsBusy] = useState(false)

  const handleClick = async () => {
    if (isBusy || isOff) return
    setIsBusy(true)
    await start(act).finally(() => setIsBusy(false))
  }

  return (
    <Button
      {...(!isInPageHead && { size: 'compact-sm' })}
      variant="default"
      aria-disabled={isBusy || isOff}
      {...(isOff && { 'data-disabled': true })}
      onClick={() => void handleClick()}
    >
      {children}
    </Button>
  )
}

async function runBulk(act: BulkAct, confirm: ReturnType<typeof useConfirm>): Promise<void> {
  const { title, isDestructive = false, run, lastQuestion, successText, messageOf, onEnd } = act
  let endBusy: EndBusy = () => {}
  try {
    const planned = await run({ dryRun: true })
    if (planned.affected === 0) {
      reportNothingToDo(planned)
      void onEnd(planned.refused === 0)
      return
    }
    const confirmed = { title, confirmLabel: act.confirmLabel(planned.affected), isDestructive }
    const message = <Plan act={act} plan={planned} />
    if (!(await (act.ask?.(planned) ?? confirm({ ...confirmed, message })))) return
    if (lastQuestion !== undefined && !(await confirm({ ...confirmed, message: lastQuestion }))) return
    endBusy = markPickedBusy()
    const done = await run({ expected: planned.affected })
    toast.success(successText(done.affected), { ...(done.undo && { action: done.undo }), detail: done.detail ?? '' })
  } catch (error) {
    toast.failure(messageOf(error))
    endBusy()
    void onEnd(false)
    return
  }
  void onEnd(true).then(() => endBusy({ afterPaint: true }))
}

/** Says why an act would change no row: all are refused, or gone. */
function reportNothingToDo({ refused, refusals: [first] }: BulkDone): void {
  if (!first) toast.failure('Nothing of this is there any more.')
  else if (refused === 1) toast.failure(first.reason)
  else toast.failure(`None of the ${formatted(refused)} can be changed.`, { detail: `${isolated(first.title)}: ${first.reason}` })
}

interface PlanProps {
  act: Pick<BulkAct, 'question'>
  plan: BulkDone
}

/** The confirmation: the question, the affected rows, and the refused rows with their reasons. */
export function Plan({ act, plan: { affected, named, refused, refusals } }: PlanProps) {
  return (
    <>
      {act.question(affected)}
      <ul className={classes['named']}>
        {named.map(({ id, title }) => (
          <li key={id}>{isolated(title)}</li>
        ))}
        {affected > named.length && <li>… and {formatted(affected - named.length)} more</li>}
      </ul>
      {refused > 0 && (
        <span className={classes['refusals']}>
          <strong>
            {formatted(refused)} will be left as {refused === 1 ? 'it is' : 'they are'}:
          </strong>
          {refusals.map(({ id, title, reason }) => (
            <span key={id}>
              {isolated(title)}: {reason}
            </span>
          ))}
          {refused > refusals.length && <span>… and {formatted(refused - refusals.length)} more</span>}
        </span>
      )}
    </>
  )
}

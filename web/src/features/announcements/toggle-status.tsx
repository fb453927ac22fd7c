/** Toggle Status (§4), from the list and the form: the questions, which say what will happen to how many players, and the toasts. */
import { toBotItem } from '@arcade/contract/announcements/bot-item'
import { type Announcement, announcementList } from '@arcade/contract/announcements/fields'
import { textProblem } from '@arcade/contract/bot-message'
import { isolated } from '@arcade/contract/text'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, client } from '#src/client/client.ts'
import { actOnRow } from '#src/lists/row-act.ts'
import { asAct, useUndo } from '#src/lists/undo.ts'
import { CONFIRM, useConfirm } from '#src/ui/confirm.tsx'
import type { Question as AskedQuestion } from '#src/ui/question.ts'
import { counted } from '#src/ui/numbers.ts'
import { momentText } from '#src/ui/moment.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './announcements.module.css'

/** The announcement, with the status that the operator sees. */
type Toggled = Pick<Announcement, 'id' | 'title' | 'status'> & Dates & Parameters<typeof toBotItem>[0]

type Dates = Partial<Record<'startsAt' | 'endsAt', string | null | undefined>>

/** Returns a function that asks for confirmation and toggles the status. `button` is the pressed button, if it is in a row of the list. */
export function useToggleStatus(): (announcement: Toggled, button: Element) => Promise<void> {
  const confirm = useConfirm()
  const undo = useUndo(announcementList)
  return async (announcement, button) => {
    const { status } = announcement
    const consequence = status ? 'It becomes In Active. No player is told.' : <Activation becomes="It becomes Active." />
    const message = <Question {...{ announcement, consequence }} />
    if (!(await confirm({ title: 'Toggle Status', message, confirmLabel: CONFIRM }))) return
    await toggleStatus(announcement, { button, undo })
  }
}

/** The question before an active announcement is saved and activated again. Nothing has been saved by then. */
export function activateAgainQuestion(announcement: Toggled): AskedQuestion {
  const consequence = <Activation becomes="The update is saved, and it becomes Active again." />
  return { title: 'Update and activate', message: <Question {...{ announcement, consequence }} /> }
}

/** The question before an active announcement is saved and stays active. */
export function keepLiveQuestion(title: string): AskedQuestion {
  const consequence = 'The update is saved, and it stays Active. No player is told, and players who open it see the new version.'
  return {
    title: 'Update and keep live',
    message: (
      <>
        <p className={classes['question']}>{`Are you sure you want to update ${isolated(title)}?`}</p>
        <p className={classes['question']}>{consequence}</p>
      </>
    ),
  }
}

interface ToggleOptions {
  /** The pressed button, if it is in a row of the list. */
  button?: Element
  /** Offers to undo it. */
  undo?: ReturnType<typeof useUndo>
}

/** Toggles the status that the operator sees, and shows the toasts. */
export async function toggleStatus(
  { id, title, status }: Pick<Toggled, 'id' | 'title' | 'status'>,
  { button, undo }: ToggleOptions = {},
): Promise<void> {
  await actOnRow(announcementList.name, button, {
    act: async () => {
      const { answer, actId } = await asAct((options) => client.announcements.toggleStatus({ id, status }, options))
      const { message, schedule } = answer
      const action = undo?.ofChange(actId, { id, title: isolated(title) })
      toast.success(message, { ...(schedule !== undefined && { detail: schedule }), ...(action && { action }) })
    },
    onFailure: ({ status: answered, message }) =>
      toast.failure(answered === 0 ? 'Internal Server Error!' : message, { detail: message }), // §8
  })
}

function Question({ announcement, consequence }: { announcement: Toggled; consequence: ReactNode }) {
  const { title, status } = announcement
  const problem = status ? undefined : textProblem(toBotItem(announcement))
  const schedule = droppedDate(announcement)
  return (
    <>
      <p className={classes['question']}>{`Are you sure you want toggle status of ${isolated(title)}.`}</p>
      <p className={classes['question']}>{consequence}</p>
      {schedule !== undefined && <p className={classes['question']}>{schedule}</p>}
      {problem !== undefined && <p className={classes['question']}>{problem}</p>}
    </>
  )
}

/** Says which date a switch by hand removes (design §7): a start to come, and at an activation an end that has passed. */
function droppedDate({ status, startsAt, endsAt }: Pick<Toggled, 'status'> & Dates): string | undefined {
  const now = Date.now()
  if (startsAt && Date.parse(startsAt) > now) return `Its start on ${momentText(startsAt)} no longer applies then.`
  if (!status && endsAt && Date.parse(endsAt) <= now) return `Its end on ${momentText(endsAt)} no longer applies then.`
  return undefined
}

/** Says what an activation does, and for how many players. */
function Activation({ becomes }: { becomes: string }) {
  const { data } = useQuery(api.players.count.queryOptions({ input: {} }))
  const players = data === undefined ? 'All players' : counted(data.total, 'player')
  return `${becomes} ${players} will have something new.`
}

/** One's own sessions: on which device, since when, when it was last used. Any but this one can be ended. */
import type { Session } from '@arcade/contract/account'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, asCallError, client, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Problem } from '#src/ui/page.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'
import classes from './account.module.css'

export function Sessions() {
  const { data, error, refetch } = useQuery(api.account.sessions.queryOptions())
  const confirm = useConfirm()
  const [isBusy, setIsBusy] = useState(false)

  const end = async (question: string, call: () => Promise<unknown>, success: string) => {
    const keepFocus = keepFocusInRows(document.activeElement)
    if (isBusy || !(await confirm({ title: 'End session', message: question, isDestructive: true }))) return
    setIsBusy(true)
    try {
      await call()
      toast.success(success)
    } catch (cause) {
      const problem = asCallError(cause)
      toast.failure(problem.isException ? 'Internal Server Error' : problem.message, { detail: problem.message })
    }
    await queryClient.invalidateQueries({ queryKey: api.account.sessions.key() })
    setIsBusy(false)
    keepFocus()
  }

  if (error && !data) return <Problem message={asCallError(error).message} onRetry={() => void refetch()} />
  if (!data) return <output>Loading...</output>
  const { sessions } = data
  return (
    <>
      <ul className={classes['sessions']}>
        {sessions.map((session) => (
          <SessionItem
            key={session.id}
            session={session}
            onEnd={() =>
              void end(
                `Are you sure you want to end the session on ${nameDevice(session)}? Whoever uses it has to sign in again.`,
                () => client.account.endSession({ id: session.id }),
                'Session ended.',
              )
            }
          />
        ))}
      </ul>
      {sessions.length > 2 && (
        <Button
          variant="default"
          onClick={() =>
            void end(
              'Are you sure you want to end all your sessions but this one?',
              () => client.account.endOtherSessions(),
              'All other sessions ended.',
            )
          }
        >
          End All Others
        </Button>
      )}
    </>
  )
}

function SessionItem({ session, onEnd }: { session: Session; onEnd: () => void }) {
  return (
    <li>
      <div>
        <p className={classes['device']}>{nameDevice(session)}</p>
        <p className={classes['times']}>
          Begun <Moment iso={session.begunAt} />
        </p>
        <p className={classes['times']}>
          Last seen <Moment iso={session.lastSeenAt} />
        </p>
      </div>
      {session.isCurrent ? (
        <span className={classes['current']}>This session</span>
      ) : (
        <Button variant="default" size="compact-md" aria-label={`End Session, ${nameDevice(session)}`} onClick={onEnd}>
          End Session
        </Button>
      )}
    </li>
  )
}

/** Sessions from before devices were kept have none. */
function nameDevice({ device }: Session): string {
  return device || 'an unknown device'
}

/** Confirms a change of an e-mail address by a link in a mail, or cancels it. A press of a button is needed: mail scanners open links, too. */
import type { EmailChangeState } from '@arcade/contract/emails/calls'
import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, forGuests, queryClient } from '#src/client/client.ts'
import { Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { AuthLayout } from './auth-layout.tsx'
import classes from './auth-layout.module.css'

const texts: Record<Exclude<EmailChangeState, 'valid'>, string> = {
  confirmed: 'This address has confirmed the change. It takes effect when the other address has confirmed it, too.',
  expired: 'This link has expired: it was good for a day. Nothing has changed.',
  replaced: 'This link is not valid: the change was made or cancelled, or the link is not complete.',
}

const DONE = {
  changed: 'The address was changed. Log in with the new one from now on.',
  cancelled: 'The change was cancelled. If you did not ask for it, change your password: somebody knows it.',
}

export function ConfirmEmailPage() {
  const { link = '' } = useSearch({ from: '/auth/confirm-email' })
  const { data, error, refetch, done, handleAct } = useEmailChange(link)
  const notice = done ? DONE[done] : data && data.state !== 'valid' ? texts[data.state] : undefined
  const isGood = done !== undefined || data?.state === 'confirmed'
  const canAct = done === undefined && (data?.state === 'valid' || (data?.state === 'confirmed' && data.isPresent))
  return (
    <AuthLayout
      mode="login"
      title="Change of E-mail"
      {...(canAct && data?.email && { text: `The new address is ${data.email}` })}
      notice={
        <div aria-live="polite">
          {notice && (
            <div className={classes['setup']} data-good={isGood || undefined}>
              <p>{notice}</p>
            </div>
          )}
        </div>
      }
      footer={
        <Anchor renderRoot={(props) => <Link to="/auth/log-in" {...props} />} underline="always">
          Log In
        </Anchor>
      }
    >
      {error && !data && <Problem {...problemOf(error, () => void refetch())} />}
      {!error && !data && <output>Loading...</output>}
      {canAct && data && (
        <div className={classes['acts']}>
          {data.state === 'valid' && (
            <Button size="md" fullWidth onClick={() => void handleAct('confirm')}>
              {data.isPresent ? 'Confirm the Change' : 'Confirm This Address'}
            </Button>
          )}
          {data.isPresent && (
            <Button size="md" fullWidth variant="default" onClick={() => void handleAct('cancel')}>
              Cancel the Change
            </Button>
          )}
        </div>
      )}
    </AuthLayout>
  )
}

/** Returns the change that a link is for, how it ended after the buttons of this page, and the handler of these buttons. */
function useEmailChange(link: string) {
  const [done, setDone] = useState<keyof typeof DONE>()
  const [isBusy, setIsBusy] = useState(false)
  const { data, error, refetch } = useQuery(
    api.emails.link.queryOptions({ input: { link }, refetchOnWindowFocus: false, meta: forGuests }),
  )

  const handleAct = async (act: 'confirm' | 'cancel') => {
    if (isBusy) return
    setIsBusy(true)
    try {
      const { isChanged } = await client.emails.confirm({ link, act })
      if (act === 'cancel') setDone('cancelled')
      else if (isChanged) setDone('changed')
      await queryClient.invalidateQueries({ queryKey: api.auth.session.key() })
    } catch (cause) {
      const failure = asCallError(cause)
      toast.failure(failure.isException ? 'Internal Server Error!' : failure.message, { detail: failure.message })
    }
    await refetch()
    setIsBusy(false)
  }
  return { data, error, refetch, done, handleAct }
}

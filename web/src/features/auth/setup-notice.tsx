/** The notice above the registration form (design §7): that there is no admin yet, or the state of a set-up link. */
import type { SetupLinkState } from '@arcade/contract/auth/calls'
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSession } from '#src/session.tsx'
import classes from './auth-layout.module.css'

const COMMAND = 'npm run arcade -- setup-link'

interface SetupNoticeProps {
  /** Whether the address has a set-up link. */
  hasLink: boolean
  /** The state of the set-up link; undefined until it is loaded. */
  state: SetupLinkState | undefined
  /** The e-mail that was typed for the first admin, if another account already has it. */
  takenEmail: string | undefined
}

export function SetupNotice({ hasLink, state, takenEmail }: SetupNoticeProps) {
  const { user, hasAdmin } = useSession()
  const text = takenEmail === undefined ? <LinkText state={state} hasAdmin={hasAdmin} /> : <TakenText email={takenEmail} />
  const isShown = state !== undefined || (!hasLink && !hasAdmin)
  return (
    <div aria-live="polite">
      {isShown && (
        <div className={classes['setup']} data-good={(state === 'valid' && takenEmail === undefined) || undefined}>
          <p>{text}</p>
          {state && user && (
            <p>
              You are signed in as {user.email}; an account that you create here takes its place in this browser.{' '}
              <Anchor renderRoot={(props) => <Link to="/admin" {...props} />} underline="always">
                Back to the dashboard
              </Anchor>
            </p>
          )}
        </div>
      )}
    </div>
  )
}

function LinkText({ state, hasAdmin }: { state: SetupLinkState | undefined; hasAdmin: boolean }) {
  switch (state) {
    case 'valid':
      return 'This link makes the first admin: the account that you create here may manage everything.'
    case 'used':
      return 'This set-up link was used already: there is an admin. An account that you create here is an ordinary one; an admin can make it one, too.'
    case 'expired':
      return <WithCommand>This set-up link has expired.</WithCommand>
    case 'replaced':
      return (
        <WithCommand>This set-up link is not valid. It may be incomplete, or a newer one may have taken its place.</WithCommand>
      )
    default:
      return hasAdmin ? null : (
        <WithCommand>There is no admin yet. The link that makes the first one stands in the server’s log.</WithCommand>
      )
  }
}

function WithCommand({ children }: { children: string }) {
  return (
    <>
      {children} On the server, <code>{COMMAND}</code> prints a new one. An account that you create here without such a link
      cannot manage anything.
    </>
  )
}

function TakenText({ email }: { email: string }) {
  return (
    <>
      There is an account with this e-mail already. Use another one here, or make that account an admin on the server:{' '}
      <code>npm run arcade -- admin create {email}</code>
    </>
  )
}

/** The invitations that were not used: for whom, by whom, until when, and what became of the mail. Each can be renewed or ended. */
import type { OpenInvitation } from '@arcade/contract/invitations/calls'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { Facts, Item, ItemList } from '#src/ui/item-list.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Panel, Problem } from '#src/ui/page.tsx'
import { newInvitation, NewLinkDialog, roleWords } from './invite.tsx'
import { useRolesAbove, useRolesNotToInvite } from './roles-above.ts'

const mailWords = { queued: 'the mail is being sent', sent: 'sent by mail', failed: 'the mail could not be sent' } as const

/** Shows nothing if there are no invitations. */
export function OpenInvitations(): ReactNode {
  const query = useQuery(api.invitations.list.queryOptions())
  useAutoReload(query)
  const { user } = useSession()
  const above = useRolesAbove()
  const refused = useRolesNotToInvite()
  const act = useItemAct(api.invitations.key())
  const [renewed, setRenewed] = useState<ReturnType<typeof newInvitation>>()
  const { data, error, refetch } = query

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  const invitations = data?.invitations ?? []
  if (invitations.length === 0) return null

  const mayActOn = ({ role }: OpenInvitation) => mayDo(user, 'users.write') && (role === 'user' || !above.includes(role))
  const mayInvite = ({ role }: OpenInvitation) => role === 'user' || !refused.includes(role)
  const handleRenew = ({ id, email }: OpenInvitation) =>
    void act(async () => {
      const made = newInvitation(email, await client.invitations.resend({ id }))
      setRenewed(made)
      return made.isMailed ? 'Invitation sent again.' : 'New link made.'
    })
  const handleEnd = ({ id, email }: OpenInvitation) =>
    void act(
      async () => {
        await client.invitations.remove({ id })
        return 'Invitation ended.'
      },
      { title: 'End invitation', message: `Are you sure you want to end the invitation of ${email}?`, isDestructive: true },
    )

  return (
    <Panel title="Open Invitations">
      <ItemList>
        {invitations.map((invitation) => (
          <Invitation
            key={invitation.id}
            invitation={invitation}
            canEnd={mayActOn(invitation)}
            canRenew={mayActOn(invitation) && mayInvite(invitation)}
            onRenew={() => handleRenew(invitation)}
            onEnd={() => handleEnd(invitation)}
          />
        ))}
      </ItemList>
      <NewLinkDialog made={renewed} onClose={() => setRenewed(undefined)} />
    </Panel>
  )
}

interface InvitationProps {
  invitation: OpenInvitation
  canEnd: boolean
  canRenew: boolean
  onRenew: () => void
  onEnd: () => void
}

function Invitation({ invitation, canEnd, canRenew, onRenew, onEnd }: InvitationProps) {
  const { email, role, madeBy, expiresAt, isExpired, mail } = invitation
  const { canResetByMail } = useSession()
  const renewal = canResetByMail ? 'Send Again' : 'Make New Link'
  return (
    <Item
      name={email}
      badge={isExpired ? 'Expired' : mail === 'failed' && 'Not sent'}
      buttons={
        canEnd && (
          <>
            {canRenew && (
              <Button variant="default" size="compact-md" aria-label={`${renewal}, ${email}`} onClick={onRenew}>
                {renewal}
              </Button>
            )}
            <Button variant="default" size="compact-md" aria-label={`End Invitation, ${email}`} onClick={onEnd}>
              End Invitation
            </Button>
          </>
        )
      }
    >
      <Facts>
        {roleWords(role)}, invited by {isolated(madeBy)}, {isExpired ? 'was good until' : 'good until'} <Moment iso={expiresAt} />
        {mail && `, ${mailWords[mail]}`}
      </Facts>
    </Item>
  )
}

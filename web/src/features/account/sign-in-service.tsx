/** The account of the sign-in service, such as Telegram, that the signed-in admin has linked: links one and unlinks it. */
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { leaveFor } from '#src/client/sign-in-service.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { Moment } from '#src/ui/moment.tsx'
import { PanelText, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './account.module.css'

export function SignInService() {
  const query = useQuery(api.oidc.state.queryOptions())
  const { data, error, refetch } = query
  useAutoReload(query)
  const act = useItemAct(api.oidc.key())

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>
  const { link } = data
  const service = isolated(data.service ?? '')

  const handleLink = async () => {
    try {
      await leaveFor(await client.oidc.beginLink())
    } catch (cause) {
      const failure = asCallError(cause)
      toast.failure('The account was not linked', { detail: failure.message })
    }
  }
  const handleUnlink = () =>
    void act(
      async () => {
        await client.oidc.unlink()
        return `${service} account unlinked.`
      },
      {
        title: 'Unlink account',
        message: `Are you sure you want to unlink your ${service} account? It does not sign you in any more, and your other sessions end.`,
        isDestructive: true,
      },
    )
  return (
    <>
      <PanelText>
        A linked {service} account signs you in instead of your password. A second factor, if you have one, is still asked for.
      </PanelText>
      {link && (
        <p className={classes['linked']}>
          <strong>{link.name === null ? `Your ${service} account` : isolated(link.name)}</strong>, linked{' '}
          <Moment iso={link.linkedAt} />
          {link.lastUsedAt !== null && (
            <>
              , last used <Moment iso={link.lastUsedAt} />
            </>
          )}
        </p>
      )}
      <div className={classes['buttons']}>
        {link ? (
          <Button variant="default" onClick={handleUnlink}>
            Unlink Account
          </Button>
        ) : (
          <Button variant="default" onClick={() => void handleLink()}>
            Link Account
          </Button>
        )}
      </div>
    </>
  )
}

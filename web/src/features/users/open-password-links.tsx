/** The password links that can be used now: for whom, by whom and until when. Who may change the user can end it. */
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { Permitted } from '#src/session.tsx'
import { Facts, Item, ItemList } from '#src/ui/item-list.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Panel, Problem } from '#src/ui/page.tsx'
import { useRolesAbove } from './roles-above.ts'

interface OpenPasswordLinksProps {
  /** Shows only the link for this user. */
  userId?: string
  onEnd?: () => void
}

/** Shows nothing if there are no links. */
export function OpenPasswordLinks({ userId, onEnd }: OpenPasswordLinksProps): ReactNode {
  const query = useQuery(api.account.passwordLinks.queryOptions())
  useAutoReload(query)
  const above = useRolesAbove()
  const act = useItemAct(api.account.passwordLinks.key())
  const { data, error, refetch } = query

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  const links = (data?.links ?? [])
    .filter(({ id }) => userId === undefined || id === userId)
    .map((link) => ({ ...link, name: isolated(link.name), madeBy: isolated(link.madeBy) }))
  if (links.length === 0) return null

  const handleEnd = (id: string, name: string) =>
    void act(
      async () => {
        await client.account.endPasswordLink({ id })
        onEnd?.()
        return 'Password link ended.'
      },
      { title: 'End link', message: `Are you sure you want to end the password link for ${name}?`, isDestructive: true },
    )

  return (
    <Panel title="Open Password Links">
      <ItemList>
        {links.map(({ id, name, email, role, madeBy, expiresAt }) => (
          <Item
            key={id}
            name={`${name} (${email})`}
            buttons={
              (role === null || !above.includes(role)) && (
                <Permitted needs="users.write">
                  <Button
                    variant="default"
                    size="compact-md"
                    aria-label={`End Link, ${name}`}
                    onClick={() => handleEnd(id, name)}
                  >
                    End Link
                  </Button>
                </Permitted>
              )
            }
          >
            <Facts>
              Made by {madeBy}, good until <Moment iso={expiresAt} />
            </Facts>
          </Item>
        ))}
      </ItemList>
    </Panel>
  )
}

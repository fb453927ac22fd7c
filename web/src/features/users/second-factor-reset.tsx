/** Removes another person's second factor, who has lost it. Only for those who may change roles, and for people who have one. */
import type { ShownUser } from '@arcade/contract/users/calls'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { Panel, PanelText } from '#src/ui/page.tsx'

export function SecondFactorReset({ user: { id, fname, lname, hasSecondFactor } }: { user: ShownUser }) {
  const { user: self } = useSession()
  const act = useItemAct(api.users.get.queryKey({ input: { id } }))
  if (!mayDo(self, 'users.roles') || self?.id === id || !hasSecondFactor) return null
  const handleReset = () =>
    void act(
      async () => {
        await client.secondFactor.reset({ id })
        return 'Second factor removed.'
      },
      {
        title: 'Remove second factor',
        message: `Are you sure that ${isolated(`${fname} ${lname}`)} has lost it? Ask in person or by phone. All sessions of this person end, and the password alone signs in until a new one is set up.`,
        isDestructive: true,
      },
    )
  return (
    <Panel title="Second Factor">
      <PanelText>For somebody who has lost the authenticator app and the recovery codes.</PanelText>
      <Button variant="default" onClick={handleReset}>
        Remove Second Factor
      </Button>
    </Panel>
  )
}

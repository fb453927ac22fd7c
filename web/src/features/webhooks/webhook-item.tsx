/** One webhook of the list; a button shows its last deliveries. */
import type { Webhook } from '@arcade/contract/webhooks/calls'
import { webhookEvents } from '@arcade/contract/webhooks/fields'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { Facts, Item } from '#src/ui/item-list.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { Deliveries } from './deliveries.tsx'
import classes from './webhooks.module.css'

interface WebhookItemProps {
  webhook: Webhook
  onRemoved: (id: string) => void
}

export function WebhookItem({ webhook, onRemoved }: WebhookItemProps) {
  const { id, url, events, isActive } = webhook
  const act = useItemAct(api.webhooks.key())
  const [isOpen, setIsOpen] = useState(false)

  const remove = async () => {
    setIsOpen(false) // otherwise the deliveries of a deleted webhook would be fetched
    await client.webhooks.remove({ id })
    onRemoved(id)
    return 'Webhook deleted.'
  }
  const removal = {
    title: 'Delete webhook',
    message: `Are you sure you want to delete ${url}? What waits for it is lost, and its signing secret ends.`,
    isDestructive: true,
  }
  const switchOver = async () => {
    await client.webhooks.setActive({ id, isActive: !isActive })
    return isActive ? 'Switched off.' : 'Switched on.'
  }
  const replay = (deliveryId: string) =>
    act(async () => {
      await client.webhooks.replay({ id, deliveryId })
      return isActive ? 'Queued again.' : 'Queued again: it is sent once the webhook is switched on.'
    })

  return (
    <Item
      name={url}
      badge={!isActive && 'Switched off'}
      buttons={
        <>
          <ItemButton label={`Deliveries to ${url}`} isExpanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            Deliveries
          </ItemButton>
          <ItemButton
            label={`Send Test to ${url}`}
            onClick={() => void act(() => client.webhooks.test({ id }).then(() => 'Test queued.'))}
          >
            Send Test
          </ItemButton>
          <ItemButton label={`Switch ${isActive ? 'Off' : 'On'} ${url}`} onClick={() => void act(switchOver)}>
            {isActive ? 'Switch Off' : 'Switch On'}
          </ItemButton>
          <ItemButton label={`Delete ${url}`} onClick={() => void act(remove, removal)}>
            Delete
          </ItemButton>
        </>
      }
      details={isOpen && <Deliveries webhook={webhook} onReplay={(deliveryId) => void replay(deliveryId)} />}
    >
      <Facts>{events.map((event) => webhookEvents[event].label).join(' · ')}</Facts>
      <DeliveryState webhook={webhook} />
    </Item>
  )
}

function DeliveryState({ webhook: { alert, failingSince, waiting } }: { webhook: Webhook }) {
  return (
    <>
      {alert !== null && <p className={classes['alert']}>{alert}</p>}
      {failingSince !== null && (
        <p className={classes['alert']}>
          Failing since <Moment iso={failingSince} />
        </p>
      )}
      {waiting > 0 && <Facts>{`${formatted(waiting)} waiting`}</Facts>}
    </>
  )
}

interface ItemButtonProps {
  /** Includes the webhook's address. */
  label: string
  isExpanded?: boolean
  onClick: () => void
  children: string
}

function ItemButton({ label, isExpanded, onClick, children }: ItemButtonProps) {
  return (
    <Button variant="default" size="compact-sm" aria-label={label} aria-expanded={isExpanded} onClick={onClick}>
      {children}
    </Button>
  )
}

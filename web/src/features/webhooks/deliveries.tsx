/** The last deliveries of a webhook, each in one line: how it ended, what happened, attempts, time, answer. A line unfolds its details. */
import type { Webhook, WebhookDelivery } from '@arcade/contract/webhooks/calls'
import { Button } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { Facts } from '#src/ui/item-list.tsx'
import { ExactMoment, Moment } from '#src/ui/moment.tsx'
import { counted } from '#src/ui/numbers.ts'
import { Problem } from '#src/ui/page.tsx'
import { State } from '#src/ui/state.tsx'
import { Cell, RowActs, WideRow, WideTable } from '#src/ui/wide-table.tsx'
import { happeningOf, shownPayload } from './delivery-words.ts'
import classes from './webhooks.module.css'

interface DeliveriesProps {
  webhook: Webhook
  onReplay: (deliveryId: string) => void
}

const columns = ['State', 'What', 'Attempts', 'Time', 'Answer', { hidden: 'Replay' }]

export function Deliveries({ webhook: { id, isActive }, onReplay }: DeliveriesProps) {
  const { data, error, refetch } = useQuery(api.webhooks.deliveries.queryOptions({ input: { id } }))
  const [open, setOpen] = useState<string>()
  if (!data) {
    if (!error) return <output>Loading...</output>
    return <Problem {...problemOf(error, () => void refetch())} />
  }
  if (data.deliveries.length === 0) return <Facts>Nothing was sent yet.</Facts>
  return (
    <WideTable label="Deliveries" columns={columns} isOneLine>
      {data.deliveries.map((delivery) => (
        <Delivery
          key={delivery.id}
          delivery={delivery}
          isActive={isActive}
          isOpen={open === delivery.id}
          onToggle={() => setOpen(open === delivery.id ? undefined : delivery.id)}
          onReplay={() => onReplay(delivery.id)}
        />
      ))}
    </WideTable>
  )
}

interface DeliveryProps {
  delivery: WebhookDelivery
  /** Whether the webhook is switched on. */
  isActive: boolean
  isOpen: boolean
  onToggle: () => void
  onReplay: () => void
}

const states = {
  waiting: { is: 'busy', label: 'Waiting' },
  delivered: { is: 'good', label: 'Delivered' },
  failed: { is: 'bad', label: 'Failed' },
} as const

function Delivery({ delivery, isActive, isOpen, onToggle, onReplay }: DeliveryProps) {
  const { id, state, attempts, result } = delivery
  const what = happeningOf(delivery)
  return (
    <>
      <WideRow>
        <Cell>
          <State is={states[state].is}>{states[state].label}</State>
        </Cell>
        <Cell isLong>
          <button
            type="button"
            className={classes['unfold']}
            aria-expanded={isOpen}
            aria-label={`Details of ${what}`}
            onClick={onToggle}
          >
            <IconChevronRight size={16} aria-hidden />
            <span title={what}>{what}</span>
          </button>
        </Cell>
        <Cell>{counted(attempts, 'attempt')}</Cell>
        <Cell>
          <DeliveryTime delivery={delivery} isActive={isActive} />
        </Cell>
        <Cell isLong>{result !== null && <span title={result}>{result}</span>}</Cell>
        <Cell isAtEnd>
          {state !== 'waiting' && (
            <RowActs>
              <Button variant="default" size="compact-sm" aria-label={`Replay ${id}`} onClick={onReplay}>
                Replay
              </Button>
            </RowActs>
          )}
        </Cell>
      </WideRow>
      {isOpen && <DeliveryDetails delivery={delivery} />}
    </>
  )
}

/** When the next attempt is, or when the last one was. */
function DeliveryTime({ delivery, isActive }: Pick<DeliveryProps, 'delivery' | 'isActive'>) {
  const { createdAt, triedAt, nextAt, result } = delivery
  if (nextAt !== null && !isActive) return 'waits while switched off'
  if (nextAt === null || result === null) return <Moment iso={triedAt ?? createdAt} />
  return (
    <>
      next <Moment iso={nextAt} />
    </>
  )
}

/** The row below a delivery with all that is known of it. */
function DeliveryDetails({ delivery: { id, event, result, createdAt, payload } }: Pick<DeliveryProps, 'delivery'>) {
  return (
    <WideRow>
      <Cell isWhole>
        <dl className={classes['details']}>
          <dt>Delivery</dt>
          <dd>{id}</dd>
          <dt>Event</dt>
          <dd>{event}</dd>
          {result !== null && (
            <>
              <dt>Answer</dt>
              <dd>{result}</dd>
            </>
          )}
          <dt>Happened</dt>
          <dd>
            <ExactMoment iso={createdAt} />
          </dd>
        </dl>
        <pre className={classes['payload']}>{shownPayload(payload)}</pre>
      </Cell>
    </WideRow>
  )
}

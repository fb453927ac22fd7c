/** The webhooks page, for admins: the addresses to which the console sends events, and the outcome of each delivery. */
import type { WebhookInput } from '@arcade/contract/webhooks/calls'
import { webhookEvents } from '@arcade/contract/webhooks/fields'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, client, makeCreateOnce, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { Choice } from '#src/ui/choice.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, FormActions, FormColumns, SubmitButton, TextField } from '#src/ui/form.tsx'
import { ItemList } from '#src/ui/item-list.tsx'
import { Page, Panel, PanelText, Problem } from '#src/ui/page.tsx'
import { type Secret, ShownSecrets, useShownSecrets } from '#src/ui/shown-once.tsx'
import { toast } from '#src/ui/toast.tsx'
import { WebhookItem } from './webhook-item.tsx'
import classes from './webhooks.module.css'

/** How often webhooks and deliveries are reloaded while the page is visible. */
const REFRESH_MS = 2000

export function WebhooksPage() {
  const query = useQuery(api.webhooks.list.queryOptions())
  const { data, error, refetch } = query
  useAutoReload(query)
  const { secrets, show, forget } = useShownSecrets()

  // Webhooks and deliveries are reloaded together, so that they do not contradict each other.
  useEffect(() => {
    const refresh = () => queryClient.invalidateQueries({ queryKey: api.webhooks.key() }, { cancelRefetch: false })
    const timer = setInterval(() => !document.hidden && void refresh(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])

  return (
    <Page title="Webhooks">
      <Panel title="Addresses">
        <PanelText>
          The console sends events to these addresses as they happen, signed as Standard Webhooks 1.0 specifies. What an address
          does not take is sent again with growing pauses; after a day of failures the address is switched off.
        </PanelText>
        <ShownSecrets secrets={secrets} />
        {data ? (
          data.webhooks.length === 0 ? (
            <PanelText>There is no webhook yet.</PanelText>
          ) : (
            <ItemList>
              {data.webhooks.map((webhook) => (
                <WebhookItem key={webhook.id} webhook={webhook} onRemoved={forget} />
              ))}
            </ItemList>
          )
        ) : error ? (
          <Problem {...problemOf(error, () => void refetch())} />
        ) : (
          <output>Loading...</output>
        )}
      </Panel>
      {/* Not before the list above it is there, which would move the form. */}
      {(data ?? error) && (
        <Panel title="New Webhook">
          <NewWebhook onSecret={show} />
        </Panel>
      )}
    </Page>
  )
}

function NewWebhook({ onSecret }: { onSecret: (secret: Secret) => void }) {
  const form = useDraftForm(
    () => import('@arcade/contract/webhooks/calls').then(({ webhookInput }) => webhookInput),
    {
      url: '',
      events: Object.keys(webhookEvents) as WebhookInput['events'],
    },
    { name: 'webhook new' },
  )
  const [createOnce] = useState(makeCreateOnce)
  const wrong = form.formState.errors.events?.message

  const handleSubmit = async (input: WebhookInput) => {
    try {
      const { id, secret } = await createOnce((options) => client.webhooks.create(input, options))
      onSecret({ id, label: `Signing Secret of ${input.url}`, text: secret })
      // The form is cleared at once, without waiting for the list.
      form.finish()
      toast.success('Webhook added.')
      void queryClient.invalidateQueries({ queryKey: api.webhooks.key() })
      return undefined
    } catch (cause) {
      return showFailure(cause)
    }
  }

  return (
    <>
      <DraftOffer offer={form.offer} />
      <Form form={form} onSubmit={handleSubmit} label="New Webhook">
        <FormColumns>
          <TextField
            control={form.control}
            name="url"
            label="Address"
            type="url"
            placeholder="https://bot.example.org/hooks"
            description="Of the bot: https, and reachable from the internet."
            isRequired
          />
          <fieldset className={classes['events']}>
            <legend>Events</legend>
            {Object.entries(webhookEvents).map(([event, { label }]) => (
              <Choice key={event} value={event} {...form.register('events')}>
                {label}
              </Choice>
            ))}
            <p className={classes['alert']} aria-live="polite">
              {wrong}
            </p>
          </fieldset>
        </FormColumns>
        <FormRefusal form={form} />
        <FormActions>
          <SubmitButton>Create</SubmitButton>
        </FormActions>
      </Form>
    </>
  )
}

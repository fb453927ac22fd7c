/** The bot tokens page, for admins: makes, rotates and revokes tokens. A new token is shown once, until the page is left. */
import type { BotToken, BotTokenInput } from '@arcade/contract/bot-tokens/calls'
import { botScopes } from '@arcade/contract/bot-tokens/fields'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useWatch } from 'react-hook-form'
import { problemOf } from '#src/client/call-error.ts'
import { api, client, queryClient } from '#src/client/client.ts'
import { showFailure, useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, FormActions, FormColumns, SelectField, SubmitButton, TextField } from '#src/ui/form.tsx'
import { Page, Panel, PanelText, Problem } from '#src/ui/page.tsx'
import { type Secret, ShownSecrets, useShownSecrets } from '#src/ui/shown-once.tsx'
import { toast } from '#src/ui/toast.tsx'
import { WideTable } from '#src/ui/wide-table.tsx'
import { BotTokenRow } from './bot-token-row.tsx'

export function BotTokensPage() {
  const query = useQuery(api.botTokens.list.queryOptions())
  const { data, error, refetch } = query
  useAutoReload(query)
  const shown = useShownSecrets()
  return (
    <Page title="Bot Tokens">
      <Panel title="Tokens">
        <PanelText>
          With a token the game’s bot reads and writes players, claims and balances. Anybody who has it can do the same, so it
          belongs in the bot’s configuration and nowhere else. To tell the bot when announcements and tasks change, add{' '}
          <Link to="/webhooks">webhooks</Link>.
        </PanelText>
        <ShownSecrets secrets={shown.secrets} />
        {data ? (
          <Tokens tokens={data.tokens} shown={shown} />
        ) : error ? (
          <Problem {...problemOf(error, () => void refetch())} />
        ) : (
          <output>Loading...</output>
        )}
      </Panel>
      {/* Not before the list above it is there, which would move the form. */}
      {(data ?? error) && (
        <Panel title="New Token">
          <NewToken onSecret={shown.show} />
        </Panel>
      )}
    </Page>
  )
}

function Tokens({ tokens, shown }: { tokens: BotToken[]; shown: ReturnType<typeof useShownSecrets> }) {
  const act = useItemAct(api.botTokens.key())
  if (tokens.length === 0) return <PanelText>There is no bot token yet.</PanelText>
  return (
    <WideTable label="Tokens" columns={['Name', 'Scope', 'Made', 'Last used', { hidden: 'Acts' }]}>
      {tokens.map((token) => (
        <BotTokenRow
          key={token.id}
          token={token}
          onRotate={() =>
            void act(
              async () => {
                const { token: made } = await client.botTokens.rotate({ id: token.id, rotatedAt: token.rotatedAt })
                shown.show(secretOf(token, made))
                return 'Token rotated.'
              },
              {
                title: 'Rotate token',
                message: rotationQuestion(token),
              },
            )
          }
          onEndPrevious={() =>
            void act(
              async () => {
                await client.botTokens.endPrevious({ id: token.id })
                return 'Old token ended.'
              },
              {
                title: 'End old token',
                message: `Are you sure you want to end the old token of ${token.name}? A bot that still uses it is refused at once.`,
                isDestructive: true,
              },
            )
          }
          onRevoke={() =>
            void act(
              async () => {
                await client.botTokens.revoke({ id: token.id })
                shown.forget(token.id)
                return 'Token revoked.'
              },
              {
                title: 'Revoke token',
                message: `Are you sure you want to revoke ${token.name}? A bot that uses it is refused at once.`,
                isDestructive: true,
              },
            )
          }
        />
      ))}
    </WideTable>
  )
}

function secretOf({ id, name }: Pick<BotToken, 'id' | 'name'>, text: string): Secret {
  return { id, label: `Token of ${name}`, text }
}

function rotationQuestion({ name, previous }: BotToken): string {
  const consequence = previous
    ? 'The old one stops working, and the present one works until you end it or rotate again.'
    : 'The present one works until you end it or rotate again.'
  return `${name} gets a new token. ${consequence}`
}

function NewToken({ onSecret }: { onSecret: (secret: Secret) => void }) {
  const form = useDraftForm(
    () => import('@arcade/contract/bot-tokens/calls').then(({ botTokenInput }) => botTokenInput),
    {
      name: '',
      scope: 'play',
    },
    { name: 'bot-token new' },
  )
  const scope = useWatch({ control: form.control, name: 'scope' }) ?? 'play'

  const handleSubmit = async (input: BotTokenInput) => {
    try {
      const { id, token } = await client.botTokens.create(input)
      onSecret(secretOf({ id, name: input.name }, token))
      // The form is cleared at once, without waiting for the list.
      form.finish()
      toast.success('Token made.')
      void queryClient.invalidateQueries({ queryKey: api.botTokens.key() })
      return undefined
    } catch (cause) {
      const error = showFailure(cause)
      return error.code === 'TOKEN_NAME_TAKEN' ? { fields: { name: error.message } } : error
    }
  }

  return (
    <>
      <DraftOffer offer={form.offer} />
      <Form form={form} onSubmit={handleSubmit} label="New Token">
        <FormColumns>
          <TextField control={form.control} name="name" label="Name" isRequired />
          <SelectField
            control={form.control}
            name="scope"
            label="Scope"
            isRequired
            placeholder="Select a scope"
            hint={botScopes[scope].does}
            options={Object.entries(botScopes).map(([value, { label }]) => ({ value, label }))}
          />
        </FormColumns>
        <FormRefusal form={form} />
        <FormActions>
          <SubmitButton>Create</SubmitButton>
        </FormActions>
      </Form>
    </>
  )
}

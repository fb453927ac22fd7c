/** Bot tokens, for admins: made, rotated, revoked (design §8). The secret of a token is shown once, until one leaves the page. */
import type { BotToken, BotTokenInput } from '@arcade/contract/bot-tokens'
import { botScopes } from '@arcade/contract/entities/bot-token'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useWatch } from 'react-hook-form'
import { api, asCallError, client, queryClient } from '#src/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, FormActions, SelectField, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { ShownOnce } from '#src/ui/shown-once.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'
import { BotTokenItem } from './bot-token-item.tsx'
import classes from './bot-tokens.module.css'

/** A secret that was just made. */
interface Secret {
  name: string
  token: string
}

export function BotTokensPage() {
  const { data, error, refetch } = useQuery(api.botTokens.list.queryOptions())
  const [secret, setSecret] = useState<Secret>()
  return (
    <Page title="Bot Tokens" narrow>
      <Panel labelledBy="tokens">
        <h2 id="tokens" className={classes['title']}>
          Tokens
        </h2>
        <p className={classes['text']}>
          With a token the game’s bot reads and writes players, claims and balances. Whoever has it can do the same, so it belongs
          in the bot’s configuration and nowhere else. To tell the bot when announcements and tasks change, add{' '}
          <Link to="/webhooks">webhooks</Link>.
        </p>
        <div aria-live="polite">
          {secret && <ShownOnce key={secret.token} label={`Token of ${secret.name}`} text={secret.token} />}
        </div>
        {data ? (
          <Tokens tokens={data.tokens} onSecret={setSecret} />
        ) : error ? (
          <Problem message={asCallError(error).message} onRetry={() => void refetch()} />
        ) : (
          <output>Loading...</output>
        )}
      </Panel>
      <Panel labelledBy="new-token">
        <h2 id="new-token" className={classes['title']}>
          New Token
        </h2>
        <NewToken onSecret={setSecret} />
      </Panel>
    </Page>
  )
}

function Tokens({ tokens, onSecret }: { tokens: BotToken[]; onSecret: (secret: Secret | undefined) => void }) {
  const confirm = useConfirm()
  const [isBusy, setIsBusy] = useState(false)

  const act = async (question: Parameters<typeof confirm>[0], call: () => Promise<string>) => {
    const keepFocus = keepFocusInRows(document.activeElement)
    if (isBusy || !(await confirm(question))) return
    setIsBusy(true)
    try {
      toast.success(await call())
    } catch (cause) {
      showFailure(cause)
    }
    await queryClient.invalidateQueries({ queryKey: api.botTokens.key() })
    setIsBusy(false)
    keepFocus()
  }

  if (tokens.length === 0) return <p className={classes['text']}>There is no bot token yet.</p>
  return (
    <ul className={classes['tokens']}>
      {tokens.map((token) => (
        <BotTokenItem
          key={token.id}
          token={token}
          onRotate={() =>
            void act(
              {
                title: 'Rotate token',
                message: `${token.name} gets a new token.${token.previous ? ' The old one stops working, and' : ''} The present one works until you end it or rotate again.`,
              },
              async () => {
                const { token: made } = await client.botTokens.rotate({ id: token.id })
                onSecret({ name: token.name, token: made })
                return 'Token rotated.'
              },
            )
          }
          onEndPrevious={() =>
            void act(
              {
                title: 'End old token',
                message: `Are you sure you want to end the old token of ${token.name}? A bot that still uses it is refused at once.`,
                isDestructive: true,
              },
              async () => {
                await client.botTokens.endPrevious({ id: token.id })
                return 'Old token ended.'
              },
            )
          }
          onRevoke={() =>
            void act(
              {
                title: 'Revoke token',
                message: `Are you sure you want to revoke ${token.name}? A bot that uses it is refused at once.`,
                isDestructive: true,
              },
              async () => {
                await client.botTokens.revoke({ id: token.id })
                onSecret(undefined)
                return 'Token revoked.'
              },
            )
          }
        />
      ))}
    </ul>
  )
}

function NewToken({ onSecret }: { onSecret: (secret: Secret) => void }) {
  const form = useForm(() => import('@arcade/contract/bot-tokens').then(({ botTokenInput }) => botTokenInput), {
    name: '',
    scope: 'play',
  })
  const scope = useWatch({ control: form.control, name: 'scope' }) ?? 'play'

  const handleSubmit = async (input: BotTokenInput) => {
    try {
      const { token } = await client.botTokens.create(input)
      onSecret({ name: input.name, token })
      // The form is empty at once for the next one: the list is not waited for.
      form.reset()
      toast.success('Token made.')
      void queryClient.invalidateQueries({ queryKey: api.botTokens.key() })
      return undefined
    } catch (cause) {
      const error = showFailure(cause)
      return error.code === 'TOKEN_NAME_TAKEN' ? { fields: { name: error.message } } : error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="New Token">
      <TextField control={form.control} name="name" label="Name" isRequired />
      <SelectField
        control={form.control}
        name="scope"
        label="Scope"
        isRequired
        placeholder="Select a scope"
        description={botScopes[scope].does}
        options={Object.entries(botScopes).map(([value, { label }]) => ({ value, label }))}
      />
      <FormRefusal form={form} />
      <FormActions>
        <SubmitButton>Create</SubmitButton>
      </FormActions>
    </Form>
  )
}

function showFailure(cause: unknown) {
  const error = asCallError(cause)
  toast.failure(error.isException ? 'Internal Server Error' : error.message, { detail: error.message })
  return error
}

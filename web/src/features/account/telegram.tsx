/**
 * The signed-in admin's Telegram account, to which the bot sends the tests of a broadcast: makes a code that the admin sends to the bot, and
 * shows by itself when the bot has redeemed it.
 */
import type { LinkedTelegram } from '@arcade/contract/account/calls'
import { isolated } from '@arcade/contract/text'
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { Moment, TimeOfDay } from '#src/ui/moment.tsx'
import { PanelText, Problem } from '#src/ui/page.tsx'
import classes from './account.module.css'

/** How often the page asks whether the bot has redeemed the code, in milliseconds. */
const ASK_EVERY_MS = 2000

interface Code {
  code: string
  expiresAt: string
  /** When the account that this code replaces was linked. */
  replaces: string | undefined
}

export function Telegram() {
  const query = useQuery(api.account.telegram.queryOptions())
  const { data, error, refetch } = query
  const [made, setMade] = useState<Code>()
  const code = made && made.replaces === data?.telegram?.linkedAt ? made : undefined
  useAutoReload(query, code ? { everyMs: ASK_EVERY_MS } : {})
  const act = useItemAct(api.account.telegram.key())

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>
  const { telegram } = data
  const handleMake = () =>
    void act(async () => {
      const { code: text, expiresAt } = await client.account.createTelegramCode()
      setMade({ code: text, expiresAt, replaces: telegram?.linkedAt })
      return 'Code made.'
    })
  const handleUnlink = () =>
    void act(
      async () => {
        await client.account.unlinkTelegram()
        setMade(undefined)
        return 'Telegram account unlinked.'
      },
      {
        title: 'Unlink Telegram',
        message: 'Are you sure you want to unlink your Telegram account? Tests of broadcasts can then not be sent to you.',
        isDestructive: true,
      },
    )
  return (
    <>
      <PanelText>The bot sends the tests of your broadcasts to this account. It does not sign you in.</PanelText>
      <div aria-live="polite">
        {telegram && <LinkedAccount telegram={telegram} />}
        {code && <OpenCode key={code.code} code={code} onEnd={() => setMade(undefined)} />}
      </div>
      <div className={classes['buttons']}>
        {telegram && (
          <Button variant="default" onClick={handleUnlink}>
            Unlink
          </Button>
        )}
        <Button variant="default" onClick={handleMake}>
          {code ? 'Make Another Code' : telegram ? 'Link Another Account' : 'Link Telegram'}
        </Button>
      </div>
    </>
  )
}

function LinkedAccount({ telegram: { telegramId, name, linkedAt } }: { telegram: LinkedTelegram }) {
  return (
    <p className={classes['linked']}>
      <strong>{name === null ? `Telegram account ${telegramId}` : isolated(name)}</strong>
      {name !== null && ` (${telegramId})`}, linked <Moment iso={linkedAt} />
    </p>
  )
}

function OpenCode({ code: { code, expiresAt }, onEnd }: { code: Code; onEnd: () => void }) {
  useEffect(() => {
    const timer = setTimeout(onEnd, Math.max(0, Date.parse(expiresAt) - Date.now()))
    return () => clearTimeout(timer)
  })
  const command = `/link ${code}`
  return (
    <div className={classes['code']}>
      <TextInput
        label="Send this to the game’s bot"
        value={command}
        readOnly
        onFocus={(event) => event.currentTarget.select()}
        rightSection={<CopyButton label="Command" text={command} />}
      />
      <p>
        It works once, until <TimeOfDay iso={expiresAt} />. This page shows when the bot has got it.
      </p>
    </div>
  )
}

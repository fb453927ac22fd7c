/** The Mini App: who plays and what they have, above the three things there are to do. */
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { format } from '#src/format.ts'
import { desk } from './api.ts'
import { Earn } from './earn.tsx'
import { Ledger } from './ledger.tsx'
import { Play } from './play.tsx'
import { initData } from './telegram.ts'

const tabs = { Play, Earn, Ledger }
type Tab = keyof typeof tabs

export function App() {
  const [tab, setTab] = useState<Tab>('Play')
  const me = useQuery({ queryKey: ['me'], queryFn: async () => (await desk).player({ userId: 'me' }), enabled: initData !== '' })
  if (initData === '') return <main className="alone">Please open the game from its chat in Telegram.</main>
  if (me.error) return <main className="alone">{me.error.message}</main>
  const Shown = tabs[tab]
  return (
    <>
      <header>
        <strong dir="auto">{me.data?.player.firstName ?? '…'}</strong>
        <span aria-label="Balance" className="balance">
          {me.data ? format(me.data.player.balance) : '–'}
        </span>
        <span className="hint">{me.data?.rank ? `rank ${format(me.data.rank)}` : 'points'}</span>
      </header>
      <main>
        <Shown />
      </main>
      <nav>
        {(Object.keys(tabs) as Tab[]).map((name) => (
          <button key={name} type="button" aria-current={name === tab ? 'page' : undefined} onClick={() => setTab(name)}>
            {name}
            {name === 'Earn' && me.data?.hasNews && <i className="news" aria-label="There is something new" />}
          </button>
        ))}
      </nav>
    </>
  )
}

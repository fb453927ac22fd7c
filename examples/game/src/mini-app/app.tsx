/** The Mini App: the player's name and balance above three tabs. */
import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { format } from '#src/format.ts'
import { queryClient } from './api.ts'
import { Earn } from './earn.tsx'
import { me } from './items.ts'
import { Ledger } from './ledger.tsx'
import { Play } from './play.tsx'
import { initData } from './telegram.ts'

const tabs = { Play, Earn, Ledger }
type Tab = keyof typeof tabs

export function App() {
  const [tab, setTab] = useState<Tab>('Play')
  const { data, error } = useQuery({ ...me, enabled: initData !== '' })
  if (initData === '') return <main className="alone">Please open the game from its chat in Telegram.</main>
  if (error) return <main className="alone">{error.message}</main>
  const handleTab = (name: Tab): void => {
    setTab(name)
    // An operator may have changed the balance meanwhile, and the ledger will show that.
    if (name === 'Ledger') void queryClient.invalidateQueries({ queryKey: me.queryKey })
  }
  const Shown = tabs[tab]
  return (
    <>
      <header>
        <strong dir="auto">{data?.player.firstName ?? '…'}</strong>
        <span aria-label="Balance" className="balance">
          {data ? format(data.player.balance) : '–'}
        </span>
        <span className="hint">{data?.rank ? `rank ${format(data.rank)}` : 'points'}</span>
      </header>
      <main>
        <Shown />
      </main>
      <nav>
        {(Object.keys(tabs) as Tab[]).map((name) => (
          <button key={name} type="button" aria-current={name === tab ? 'page' : undefined} onClick={() => handleTab(name)}>
            {name}
            {name === 'Earn' && data?.hasNews && <i className="news" aria-label="There is something new" />}
          </button>
        ))}
      </nav>
    </>
  )
}

/** The page of the stand-in: a phone with the chat and the Mini App, beside the console. */
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import type { TelegramUser } from '#src/init-data.ts'
import { ask } from './ask.ts'
import { Phone } from './phone.tsx'
import { type ThemeName, themes } from './themes.ts'
import './style.css'

const faults = {
  none: 'answers',
  '429': 'answers 429',
  '403': 'says: blocked (403)',
  '500': 'fails (500)',
  hang: 'hangs',
  drop: 'loses its answers',
}
const FAULT_TIMES = 3

const CONSOLE_RIGHTS = 'allow-scripts allow-same-origin allow-forms allow-popups allow-modals allow-downloads'

interface Settings {
  people: TelegramUser[]
  /** The URL of the frameable console; null without a console. */
  consoleFrame: string | null
}

function Page() {
  const [settings, setSettings] = useState<Settings>()
  const [who, setWho] = useState(0)
  const [theme, setTheme] = useState<ThemeName>('light')
  useEffect(() => void ask<Settings>('GET', '/people').then(setSettings), [])
  const person = settings?.people[who]
  if (!settings || !person) return null

  const handleFault = (kind: string): void => void ask('PUT', '/faults', kind === 'none' ? [] : [{ kind, times: FAULT_TIMES }])
  return (
    <>
      <section className="player" aria-label="Player">
        <div className="controls">
          <label>
            You are
            <select value={who} onChange={({ target }) => setWho(Number(target.value))}>
              {settings.people.map(({ id, first_name }, index) => (
                <option key={id} value={index}>
                  {first_name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Theme
            <select value={theme} onChange={({ target }) => setTheme(target.value as ThemeName)}>
              {Object.keys(themes).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Telegram, {FAULT_TIMES} times
            <select defaultValue="none" onChange={({ target }) => handleFault(target.value)}>
              {Object.entries(faults).map(([kind, label]) => (
                <option key={kind} value={kind}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
        <Phone key={person.id} person={person} theme={theme} />
      </section>
      {settings.consoleFrame && (
        <iframe className="console" title="Console" src={settings.consoleFrame} sandbox={CONSOLE_RIGHTS} />
      )}
    </>
  )
}

createRoot(document.querySelector('#root')!).render(<Page />)

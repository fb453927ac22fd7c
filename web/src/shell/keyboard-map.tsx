/** The list of all shortcuts, and the switch for single keys (WCAG 2.1.4). */
import { useEffect, useRef, useState } from 'react'
import { useSession } from '#src/session.tsx'
import { placesFor } from './navigation.tsx'
import classes from './overlay.module.css'
import { hasSingleKeys, type OverlayProps, PALETTE_KEYS, setSingleKeys } from './shortcut-keys.ts'

export function KeyboardMap({ onClose }: OverlayProps) {
  const { user } = useSession()
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOn, setIsOn] = useState(hasSingleKeys)

  useEffect(() => dialog.current?.showModal(), [])

  const handleSwitch = (next: boolean) => {
    setSingleKeys(next)
    setIsOn(next)
  }

  return (
    <dialog ref={dialog} aria-labelledby="keyboard-map-title" className={classes['dialog']} onClose={onClose}>
      <header className={classes['header']}>
        <h2 id="keyboard-map-title">Keyboard shortcuts</h2>
        <button type="button" className={classes['close']} onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <div className={classes['map']}>
        <Keys title="Everywhere" rows={[[PALETTE_KEYS, 'Search and commands']]} />
        <label className={classes['switch']}>
          <input type="checkbox" checked={isOn} onChange={(event) => handleSwitch(event.currentTarget.checked)} />
          Single-key shortcuts
        </label>
        <div data-off={!isOn || undefined}>
          <Keys
            title="Single keys, while you do not type"
            rows={[
              [['?'], 'This list'],
              [['/'], 'The search box of the list'],
              [['u'], 'Undo, while its toast is there'],
              [['j', 'k'], 'The next, the previous row of the list'],
              ...placesFor(user?.userType).map(({ goKey, label }): Row => [['g', goKey], label]),
            ]}
          />
        </div>
        {user?.userType === 'admin' && <AdminKeys />}
        <Keys title="In a dialog" rows={[[['Esc'], 'Close']]} />
      </div>
    </dialog>
  )
}

/** Keys of pages that only admins see. */
function AdminKeys() {
  return (
    <>
      <Keys
        title="In a list"
        rows={[
          [['↓'], 'From the search box to the rows'],
          [['Enter'], 'Open the row'],
          [['Shift', 'click'], 'Pick all rows up to this one'],
        ]}
      />
      <Keys
        title="On a Move button of a task"
        rows={[
          [['Space'], 'Pick up, drop'],
          [['↑', '↓'], 'Move'],
          [['Esc'], 'Put back'],
        ]}
      />
    </>
  )
}

type Row = [keys: string[], what: string]

function Keys({ title, rows }: { title: string; rows: Row[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className={classes['keys']}>
        {rows.map(([keys, what]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

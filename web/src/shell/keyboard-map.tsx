/** The list of all shortcuts, and the switch for single keys (WCAG 2.1.4). */
import { useEffect, useEffectEvent, useState } from 'react'
import { Permitted, useSession } from '#src/session.tsx'
import { Dialog } from '#src/ui/dialog.tsx'
import { menuPagesFor } from './navigation.tsx'
import classes from './keyboard-map.module.css'
import { hasSingleKeys, type OverlayProps, PALETTE_KEYS, setSingleKeys } from './shortcut-keys.ts'

export function KeyboardMap({ onClose, takeTyped }: OverlayProps) {
  const { user } = useSession()
  const [isOn, setIsOn] = useState(hasSingleKeys)
  const dropTyped = useEffectEvent(takeTyped)
  useEffect(() => void dropTyped(), [])

  const handleSwitch = (next: boolean) => {
    setSingleKeys(next)
    setIsOn(next)
  }

  return (
    <Dialog isOpen isWide title="Keyboard shortcuts" onClose={onClose}>
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
              ...menuPagesFor(user).map(({ goKey, label }): Row => [['g', goKey], label]),
            ]}
          />
        </div>
        {menuPagesFor(user).length > 1 && <ListKeys />}
        <Keys title="In a dialog" rows={[[['Esc'], 'Close']]} />
      </div>
    </Dialog>
  )
}

/** Keys of lists, and of what the person may move. */
function ListKeys() {
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
      <Permitted needs="tasks.write">
        <Keys
          title="On a Move button of a task"
          rows={[
            [['Space'], 'Pick up, drop'],
            [['↑', '↓'], 'Move'],
            [['Esc'], 'Put back'],
          ]}
        />
      </Permitted>
      <Permitted needs={['tasks.write', 'announcements.write']}>
        <Keys
          title="On a bar of the calendar"
          rows={[
            [['↑', '↓'], 'The bar above, below'],
            [['Enter'], 'Open it'],
            [['Space'], 'Pick up, drop'],
            [['←', '→'], 'Move by a day, in the week by half an hour'],
            [['Shift', '→'], 'Move only the end'],
          ]}
        />
      </Permitted>
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

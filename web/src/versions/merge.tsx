/**
 * After a stale save: what one has typed and what somebody else has saved meanwhile, side by side, field by field. What one chooses stands
 * in the form at once, whose next save is on top of the newer version.
 */
import { type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { client } from '#src/client.ts'
import { Moment } from '#src/ui/moment.tsx'
import { inOrder, labelOf, valueInWords } from './change-words.ts'
import classes from './merge.module.css'
import type { Restorable } from './restore.tsx'

type Kind = Restorable['kind']
type Values = Readonly<Record<string, unknown>>
type Side = 'mine' | 'theirs'

interface Source<Row> {
  kind: Kind
  /** What the form began with; undefined where it adds one, which nobody else can change. */
  record: Row | undefined
  /** Loads the record as it is now. */
  load: () => Promise<Row>
  /** The fields of the form as a record has them, by their names on the wire. */
  toValues: (record: Row) => Values
}

interface Theirs<Row> {
  record: Row
  /** What the form went by. */
  base: Values
  /** Who has saved it, as far as the history says. */
  by: { name: string; at: string } | undefined
}

/** `version` is the one to save on top of; `begin` is to be called after a stale save. */
export function useMerge<Row extends { id: string; version: number }>({ kind, record, load, toValues }: Source<Row>) {
  /** Their version, of which the form holds what one has not chosen otherwise. */
  const merged = useRef<Row>(undefined)
  const [theirs, setTheirs] = useState<Theirs<Row>>()
  /** What the form's text goes by; our own acts beside the form may have counted its version up. */
  const basis = (): Row | undefined =>
    merged.current && record && merged.current.version > record.version ? merged.current : record
  return {
    kind,
    theirs: theirs && { ...theirs, values: toValues(theirs.record) },
    version: () => basis()?.version,
    async begin(): Promise<void> {
      const known = basis()
      if (!known) return
      // Where they cannot be loaded, the form still says that its save was stale.
      const loaded = await Promise.all([load(), lastChange(kind, known.id)]).catch(() => undefined)
      if (!loaded) return
      merged.current = loaded[0]
      setTheirs({ record: loaded[0], by: loaded[1], base: toValues(known) })
    },
  }
}

async function lastChange(kind: Kind, id: string): Promise<Theirs<unknown>['by']> {
  const [entry] = await client.audit.ofRecord({ kind, id }).then(
    ({ entries }) => entries,
    () => [],
  )
  return entry?.actorName ? { name: entry.actorName, at: entry.at } : undefined
}

interface MergeProps {
  merge: Pick<ReturnType<typeof useMerge<{ id: string; version: number }>>, 'kind' | 'theirs'>
  /** What the form holds now. */
  mine: () => Values
  /** Puts a value into the form. */
  onChoose: (name: string, value: unknown) => void
}

/** Nothing until a save was stale. */
export function MergeVersions({ merge: { kind, theirs }, ...props }: MergeProps): ReactNode {
  return theirs && <Choices key={theirs.record.version} kind={kind} theirs={theirs} {...props} />
}

interface ChoicesProps extends Omit<MergeProps, 'merge'> {
  kind: Kind
  theirs: NonNullable<MergeProps['merge']['theirs']>
}

function Choices({ kind, theirs, mine, onChoose }: ChoicesProps) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const [ours] = useState(mine)
  const { by, base, values } = theirs
  const names = inOrder(kind, Object.keys(values)).filter((name) => !isSame(ours, values, name))
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>(() =>
    Object.fromEntries(names.map((name) => [name, isSame(ours, base, name) ? 'theirs' : 'mine'])),
  )
  const put = (name: string, sides: typeof chosen) => {
    const value = (sides[name] === 'theirs' ? values : ours)[name]
    if (value !== undefined) onChoose(name, value)
  }
  const begin = useEffectEvent(() => {
    heading.current?.focus()
    for (const name of names) if (chosen[name] === 'theirs') put(name, chosen)
  })
  useEffect(() => begin(), [])

  const handleChoice = (name: string, side: Side) => {
    const sides = { ...chosen, [name]: side }
    setChosen(sides)
    put(name, sides)
    // Fields that the other type has no use for were emptied with it.
    const present = mine()
    for (const other of Object.keys(ours)) if (!isGiven(present, other)) put(other, sides)
  }

  return (
    <section className={classes['merge']} aria-labelledby={id}>
      <h2 ref={heading} id={id} tabIndex={-1} className={classes['heading']}>
        Two versions
      </h2>
      <p className={classes['who']}>
        {by ? (
          <>
            <strong>{by.name}</strong> saved the other one, <Moment iso={by.at} />.
          </>
        ) : (
          'Somebody else saved the other one.'
        )}{' '}
        {names.length === 0 ? 'Both say the same.' : 'Choose what to keep of each field:'}
      </p>
      {names.map((name) => (
        <fieldset key={name} className={classes['field']}>
          <legend>{labelOf(kind, name)}</legend>
          {(['mine', 'theirs'] as const).map((side) => (
            <label key={side} className={classes['choice']}>
              <input
                type="radio"
                name={`${id} ${name}`}
                checked={chosen[name] === side}
                onChange={() => handleChoice(name, side)}
              />
              <span className={classes['side']}>{side === 'mine' ? 'Mine' : 'Theirs'}</span>
              <span className={classes['value']}>{valueInWords(kind, name, (side === 'mine' ? ours : values)[name]) ?? '–'}</span>
            </label>
          ))}
        </fieldset>
      ))}
    </section>
  )
}

/** The name of the form's submit button while two versions are being merged. */
export const SAVE_MERGED = 'Save merged'

function isGiven(values: Values, name: string): boolean {
  return (values[name] ?? '') !== ''
}

/** An empty field says the same as one that is missing. */
function isSame(one: Values, other: Values, name: string): boolean {
  return (one[name] ?? '') === (other[name] ?? '')
}

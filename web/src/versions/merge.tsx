/**
 * After a stale save: what one has typed and what somebody else has saved meanwhile, side by side, field by field. One chooses, and saves
 * the result on top of the newer version.
 */
import { Button } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
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
  /** Who has saved it, as far as the history says. */
  by: { name: string; at: string } | undefined
}

/** `version` is the one to save on top of; `begin` is to be called after a stale save. */
export function useMerge<Row extends { id: string; version: number }>({ kind, record, load, toValues }: Source<Row>) {
  const accepted = useRef<Row>(undefined)
  const [theirs, setTheirs] = useState<Theirs<Row>>()
  /** What the form's text goes by; our own acts beside the form may have counted its version up. */
  const basis = (): Row | undefined =>
    accepted.current && record && accepted.current.version > record.version ? accepted.current : record
  return {
    kind,
    theirs: theirs && { ...theirs, values: toValues(theirs.record) },
    base: (): Values => {
      const known = basis()
      return known ? toValues(known) : {}
    },
    version: () => basis()?.version,
    async begin(): Promise<void> {
      if (!record) return
      // Where they cannot be loaded, the form still says that its save was stale.
      const loaded = await Promise.all([load(), lastChange(kind, record.id)]).catch(() => undefined)
      if (loaded) setTheirs({ record: loaded[0], by: loaded[1] })
    },
    /** What is saved from now on is saved on top of their version. */
    accept() {
      accepted.current = theirs?.record
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
  merge: Pick<ReturnType<typeof useMerge<{ id: string; version: number }>>, 'kind' | 'theirs' | 'base' | 'accept'>
  /** What the form holds now. */
  mine: () => Values
  /** Puts a value into the form. */
  onChoose: (name: string, value: unknown) => void
  onSave: () => void
}

/** Nothing until a save was stale. */
export function MergeVersions({ merge, ...props }: MergeProps): ReactNode {
  return merge.theirs && <Choices key={merge.theirs.record.version} merge={merge} {...props} />
}

function Choices({ merge, mine, onChoose, onSave }: MergeProps) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const { kind, theirs } = merge
  const [{ ours, base }] = useState(() => ({ ours: mine(), base: merge.base() }))
  const values = theirs?.values ?? {}
  const names = inOrder(kind, Object.keys(values)).filter((name) => !isSame(ours, values, name))
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>({})
  const sideOf = (name: string): Side => chosen[name] ?? (isSame(ours, base, name) ? 'theirs' : 'mine')
  useEffect(() => heading.current?.focus(), [])

  const handleSave = () => {
    const present = mine()
    for (const name of names) {
      if (sideOf(name) === 'theirs') onChoose(name, values[name])
      // What has been typed since stays; only what an earlier try put there is taken back.
      else if (isSame(present, values, name)) onChoose(name, ours[name])
    }
    merge.accept()
    onSave()
  }
  // Otherwise Enter would send the form as it is, on top of the old version.
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
    event.preventDefault()
    handleSave()
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- not its own: the keys of its choices
    <section className={classes['merge']} aria-labelledby={id} onKeyDown={handleKeyDown}>
      <h2 ref={heading} id={id} tabIndex={-1} className={classes['heading']}>
        Two versions
      </h2>
      <p className={classes['who']}>
        {theirs?.by ? (
          <>
            <strong>{theirs.by.name}</strong> saved the other one, <Moment iso={theirs.by.at} />.
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
                checked={sideOf(name) === side}
                onChange={() => setChosen({ ...chosen, [name]: side })}
              />
              <span className={classes['side']}>{side === 'mine' ? 'Mine' : 'Theirs'}</span>
              <span className={classes['value']}>{valueInWords(kind, name, (side === 'mine' ? ours : values)[name]) ?? '–'}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <Button onClick={handleSave}>Save merged</Button>
    </section>
  )
}

/** An empty field says the same as one that is missing. */
function isSame(one: Values, other: Values, name: string): boolean {
  return (one[name] ?? '') === (other[name] ?? '')
}

/**
 * Merges the form's input with a version that somebody else saved meanwhile (after a stale save). A field changed on one side takes that
 * value and is listed; for a field changed on both, the user chooses. The form shows the result at once, and its next save is based on the
 * newer version.
 */
import { isolated } from '@arcade/contract/text'
import { type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { client } from '#src/client/client.ts'
import { Moment } from '#src/ui/moment.tsx'
import { hasSameValue } from '#src/ui/same-values.ts'
import { changedInWords, inOrder, labelOf, valueInWords } from './change-words.ts'
import { ChangesList } from './changes-list.tsx'
import classes from './merge.module.css'
import type { Restorable } from './restore.tsx'

type Kind = Restorable['kind']
type Values = Readonly<Record<string, unknown>>
type Side = 'mine' | 'theirs'

interface Source<Row> {
  kind: Kind
  /** The record that the form started with; undefined for a new record, which nobody else can change. */
  record: Row | undefined
  /** Loads the current record. */
  load: () => Promise<Row>
  /** Returns the form's fields of a record, by their names in the API. */
  toValues: (record: Row) => Values
  /** Fields of the record outside the form. Their changes are listed as well. */
  alsoTold?: readonly (keyof Row & string)[]
  /** Fields that depend on another field, such as a type. If one side changed the field and the other a dependent one, the user chooses. */
  decides?: Decides
}

type Decides = Readonly<Record<string, readonly string[]>>

interface Newer<Row> {
  record: Row
  /** The version that the form's input is based on. */
  base: Values
  /** Changed fields outside the form: their old and new values. */
  otherChanges: Readonly<Record<string, readonly [before: unknown, after: unknown]>>
  /** Who saved the newer version, if the history says so. */
  by: { name: string; at: string } | undefined
}

/** `version` is the version that the next save is based on. Call `begin` after a stale save. */
export function useMerge<Row extends { id: string; version: number }>(source: Source<Row>) {
  const { kind, record, load, toValues, alsoTold = [], decides = {} } = source
  /** The newer version that was last merged into the form. */
  const merged = useRef<Row>(undefined)
  const [newer, setNewer] = useState<Newer<Row>>()
  /** The record that the input is based on. The user's own acts on the page may have raised its version beyond the merged one. */
  const basis = (): Row | undefined =>
    merged.current && record && merged.current.version > record.version ? merged.current : record
  return {
    kind,
    decides,
    newer: newer && { ...newer, theirs: toValues(newer.record) },
    version: () => basis()?.version,
    /** Loads the newer version and begins the merge. Returns false if it cannot be loaded: the save has failed then. */
    async begin(): Promise<boolean> {
      const known = basis()
      if (!known) return false
      // If this fails, the form still says that its save was stale.
      const loaded = await Promise.all([load(), lastChange(kind, known.id)]).catch(() => undefined)
      if (!loaded) return false
      merged.current = loaded[0]
      const [now, by] = loaded
      const otherChanges = alsoTold
        .filter((name) => known[name] !== now[name])
        .map((name) => [name, [known[name], now[name]]] as const)
      setNewer({ record: now, by, base: toValues(known), otherChanges: Object.fromEntries(otherChanges) })
      return true
    },
  }
}

async function lastChange(kind: Kind, id: string): Promise<Newer<unknown>['by']> {
  const [entry] = await client.audit.ofRecord({ kind, id }).then(
    ({ entries }) => entries,
    () => [],
  )
  return entry?.actorName ? { name: entry.actorName, at: entry.at } : undefined
}

interface MergeProps {
  merge: Pick<ReturnType<typeof useMerge<{ id: string; version: number }>>, 'kind' | 'decides' | 'newer'>
  /** Returns the form's current values. */
  formValues: () => Values
  /** Sets a value in the form. */
  onChoose: (name: string, value: unknown) => void
}

/** Renders nothing before a stale save. */
export function MergeVersions({ merge: { newer, ...merge }, ...props }: MergeProps): ReactNode {
  return newer && <Merge key={newer.record.version} {...merge} newer={newer} {...props} />
}

interface MergeOfProps extends Omit<MergeProps, 'merge'> {
  kind: Kind
  decides: Decides
  newer: NonNullable<MergeProps['merge']['newer']>
}

function Merge({ kind, decides, newer, formValues, onChoose }: MergeOfProps) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const [mine] = useState(formValues)
  const { by, base, theirs, otherChanges } = newer
  const compared = compare({ base, mine, theirs }, decides)
  const { changedByMe, changedByThem, toChoose } = compared
  const { chosen, choose } = useChoices({ mine, theirs, compared, decides, formValues, onChoose })

  const isFree = (name: string) => !toChoose.includes(name)
  const changesTo = (after: Values, names: string[]) =>
    Object.fromEntries(inOrder(kind, names.filter(isFree)).map((name) => [name, [base[name], after[name]] as const]))
  const parts = [
    {
      title: `${isolated(by?.name ?? 'They')} changed`,
      changes: changedInWords(kind, { ...changesTo(theirs, changedByThem), ...otherChanges }),
    },
    { title: 'You changed', changes: changedInWords(kind, changesTo(mine, changedByMe)) },
  ].filter(({ changes }) => changes.length > 0)

  return (
    <section className={classes['merge']} aria-labelledby={id}>
      <h2 ref={heading} id={id} tabIndex={-1} className={classes['heading']}>
        Two versions
      </h2>
      <p className={classes['who']}>
        <SavedBy by={by} />{' '}
        {parts.length > 0 ? 'What only one of you changed needs no choice:' : toChoose.length === 0 && 'Both say the same.'}
      </p>
      {parts.map(({ title, changes }, index) => (
        <section key={title} aria-labelledby={`${id}-part-${index}`} className={classes['part']}>
          <h3 id={`${id}-part-${index}`}>{title}</h3>
          <ChangesList changes={changes} />
        </section>
      ))}
      {toChoose.length > 0 && <p className={classes['who']}>Choose what to keep of each field:</p>}
      {inOrder(kind, toChoose).map((name) => (
        <FieldChoice
          key={name}
          kind={kind}
          name={name}
          sides={{ mine: mine[name], theirs: theirs[name] }}
          chosen={chosen[name]}
          onChoose={(side) => choose(name, side)}
        />
      ))}
    </section>
  )
}

function SavedBy({ by }: { by: Newer<unknown>['by'] }) {
  if (!by) return 'Somebody else saved the other one.'
  return (
    <>
      <strong>{isolated(by.name)}</strong> saved the other one, <Moment iso={by.at} />.
    </>
  )
}

interface FieldChoiceProps {
  kind: Kind
  name: string
  /** The values to choose from. */
  sides: Record<Side, unknown>
  chosen: Side | undefined
  onChoose: (side: Side) => void
}

function FieldChoice({ kind, name, sides, chosen, onChoose }: FieldChoiceProps) {
  const id = useId()
  return (
    <fieldset className={classes['field']}>
      <legend>{labelOf(kind, name)}</legend>
      {(['mine', 'theirs'] as const).map((side) => (
        <label key={side} className={classes['choice']}>
          <input type="radio" name={id} checked={chosen === side} onChange={() => onChoose(side)} />
          <span className={classes['side']}>{side === 'mine' ? 'Mine' : 'Theirs'}</span>
          <span className={classes['value']}>{valueInWords(kind, name, sides[side]) ?? '–'}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface ChoicesOptions extends Pick<MergeProps, 'formValues' | 'onChoose'> {
  /** The form's values when the merge began. */
  mine: Values
  /** The values of the newer version. */
  theirs: Values
  compared: ReturnType<typeof compare>
  decides: Decides
}

/** The chosen side of each changed field, at first the one that changed it, or mine if both did. The form gets the chosen values. */
function useChoices({ mine, theirs, compared, decides, formValues, onChoose }: ChoicesOptions) {
  const { changedByMe, changedByThem } = compared
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>(() =>
    Object.fromEntries([...changedByThem.map((name) => [name, 'theirs']), ...changedByMe.map((name) => [name, 'mine'])]),
  )
  const put = (name: string, sides: typeof chosen) => {
    const value = (sides[name] === 'theirs' ? theirs : mine)[name]
    if (value !== undefined) onChoose(name, value)
  }
  const begin = useEffectEvent(() => {
    for (const [name, side] of Object.entries(chosen)) if (side === 'theirs') put(name, chosen)
  })
  useEffect(() => begin(), [])

  const choose = (name: string, side: Side) => {
    const sides = { ...chosen, [name]: side }
    setChosen(sides)
    put(name, sides)
    // Changing the type also cleared fields that the other type does not use: restore them.
    const present = formValues()
    for (const other of decides[name] ?? []) if (!isGiven(present, other)) put(other, sides)
  }
  return { chosen, choose }
}

/** Returns the fields that each side changed, and those to choose. Fields with equal values on both sides are in none of them. */
function compare({ base, mine, theirs }: Record<'base' | 'mine' | 'theirs', Values>, decides: Decides) {
  const differing = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].filter(
    (name) => !hasSameValue(mine, theirs, name),
  )
  const changedByMe = differing.filter((name) => !hasSameValue(mine, base, name))
  const changedByThem = differing.filter((name) => !hasSameValue(theirs, base, name))
  const isLinked = (one: string, other: string) => one === other || decides[one]?.includes(other) || decides[other]?.includes(one)
  const isDisputed = (name: string, own: string[], other: string[]) =>
    own.includes(name) && other.some((changed) => isLinked(name, changed))
  const toChoose = Object.keys(theirs).filter(
    (name) => isDisputed(name, changedByMe, changedByThem) || isDisputed(name, changedByThem, changedByMe),
  )
  return { changedByMe, changedByThem, toChoose }
}

/** The toast when a merge begins: that is no error. */
export const MERGE_BEGINS = 'This was changed meanwhile. Nothing is saved yet: compare both versions, then save.'

/** The submit button's label while versions are being merged. */
export const SAVE_MERGED = 'Save merged'

function isGiven(values: Values, name: string): boolean {
  return (values[name] ?? '') !== ''
}

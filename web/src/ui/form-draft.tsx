/**
 * A form that keeps its input as a draft (drafts.ts) and asks before it is left (unsaved.ts). A draft is offered on the next visit and
 * never filled in by itself. It restores only the fields changed in it; if somebody else changed such a field as well, the form shows the
 * saved value beside it. Passwords are never kept.
 */
import { Button } from '@mantine/core'
import { type RefObject, use, useEffect, useRef, useState } from 'react'
import type { DefaultValues, FieldValues, UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import { type Draft, draftKey, DraftOwner, dropDraft, dropDrafts, keepDraft, readDrafts } from './drafts.ts'
import classes from './form-draft.module.css'
import { type FormOptions, type FormSchema, useForm } from './form.tsx'
import { Moment } from './moment.tsx'
import { hasSameValue, hasSameValues } from './same-values.ts'
import { forgetUnsavedWork, markUnsaved } from './unsaved.ts'

type Values = Readonly<Record<string, unknown>>

interface DraftOptions<Input> extends FormOptions<Input> {
  /** Identifies the form and its item: `social-tasks 17`. */
  name: string
  /** The version of the item being edited. */
  basis?: number | undefined
}

interface Offer {
  draft: Draft
  /** The item was saved since the draft was started. */
  isOutdated: boolean
  onUse: () => void
  onDiscard: () => void
}

/** `useForm` with drafts. Pass `offer` to a `DraftOffer` above the form. After saving, call `finish` instead of `reset`. */
export function useDraftForm<Schema extends FormSchema>(
  load: () => Promise<Schema>,
  defaultValues: DefaultValues<z.input<Schema>>,
  options: DraftOptions<z.input<Schema>>,
) {
  const form = useForm(load, defaultValues, options)
  return { ...form, ...useDraft(form, defaultValues, options) }
}

function useDraft<Input extends FieldValues, Output>(
  form: UseFormReturn<Input, unknown, Output>,
  defaultValues: DefaultValues<Input>,
  { name, basis }: DraftOptions<Input>,
): { offer: Offer | undefined; savedMeanwhile: Values; keepAsDraft: () => void; finish: () => void } {
  const key = draftKey(use(DraftOwner), name)
  const [first] = useState(defaultValues)
  const [draft, setDraft] = useState(() => readDrafts(key).find((one) => hasChanges(one, first)))
  const [savedMeanwhile, setSavedMeanwhile] = useState<Values>({})
  /** The draft that the current input is saved in. */
  const current = useRef<CurrentDraft>({ id: newId(), basis, base: withoutPasswords(first) })
  useKeptInput(form, first, key, current)

  const offerAnother = (id: string) => setDraft(readDrafts(key).find((one) => one.id !== id && hasChanges(one, first)))
  const handleUse = (offered: Draft) => {
    offerAnother(offered.id) // the current input is itself a draft, and is offered next, like any older draft
    const clashes = clashesOf(offered, first)
    setSavedMeanwhile(valuesOf(first, clashes))
    // Keep the old base for conflicting fields, so that the conflict is shown again after another visit.
    current.current = {
      id: offered.id,
      basis: clashes.length === 0 ? basis : offered.basis,
      base: { ...withoutPasswords(first), ...valuesOf(offered.base ?? {}, clashes) },
    }
    form.reset(Object.assign({}, first, ownValues(offered)), { keepDefaultValues: true })
  }
  const handleDiscard = (offered: Draft) => {
    dropDraft(key, offered.id)
    offerAnother(current.current.id)
  }

  return {
    offer: draft && {
      draft,
      isOutdated: draft.basis !== basis,
      onUse: () => handleUse(draft),
      onDiscard: () => handleDiscard(draft),
    },
    /** The saved values of fields that both the draft in use and somebody else changed. */
    savedMeanwhile,
    /** Saves the draft again before a reload: saving in another tab may have deleted it. */
    keepAsDraft() {
      const values = withoutPasswords(form.getValues())
      keepDraft(key, { ...current.current, at: new Date().toISOString(), values })
    },
    finish() {
      dropDrafts(key, { except: draft?.id }) // a draft on offer was neither used nor discarded
      forgetUnsavedWork()
      setSavedMeanwhile({})
      form.reset()
    },
  }
}

type CurrentDraft = Required<Pick<Draft, 'id' | 'basis' | 'base'>>

/** Saves every change of the input in the current draft, and tells unsaved.ts whether there is unsaved input. */
function useKeptInput<Input extends FieldValues, Output>(
  { subscribe }: UseFormReturn<Input, unknown, Output>,
  first: DefaultValues<Input>,
  key: string,
  current: RefObject<CurrentDraft>,
): void {
  useEffect(() => {
    const holder = current.current
    const stop = subscribe({
      formState: { values: true },
      callback: ({ values }) => {
        markUnsaved(holder, !hasSameValues(values, first))
        if (hasSameValues(withoutPasswords(values), withoutPasswords(first))) dropDraft(key, current.current.id)
        else keepDraft(key, { ...current.current, at: new Date().toISOString(), values: withoutPasswords(values) })
      },
    })
    return () => {
      stop()
      markUnsaved(holder, false)
    }
  }, [subscribe, first, key, current])
}

/** Offers the form's draft, if there is one. */
export function DraftOffer({ offer }: { offer: Offer | undefined }) {
  const container = useRef<HTMLDivElement>(null)
  if (!offer) return null
  /** The button disappears, so the focus moves to the form's first field. */
  const moveFocusAnd = (act: () => void) => {
    container.current?.parentElement?.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus()
    act()
  }
  return (
    <div ref={container} className={classes['offer']}>
      <p>
        Unsaved draft, <Moment iso={offer.draft.at} />
        {offer.isOutdated && '. The saved version has changed since.'}
      </p>
      <div className={classes['buttons']}>
        <Button variant="default" size="compact-sm" onClick={() => moveFocusAnd(offer.onUse)}>
          Use Draft
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={() => moveFocusAnd(offer.onDiscard)}>
          Discard Draft
        </Button>
      </div>
    </div>
  )
}

/** Returns the values that the draft changes. */
function ownValues({ base, values }: Draft): Values {
  if (!base) return values
  return valuesOf(
    values,
    Object.keys(values).filter((field) => !hasSameValue(values, base, field)),
  )
}

/** Returns the fields that both the draft and, since it was started, somebody else changed, and to different values. */
function clashesOf(draft: Draft, first: Values): string[] {
  const { base } = draft
  if (!base) return []
  const own = ownValues(draft)
  return Object.keys(own).filter((field) => !hasSameValue(first, base, field) && !hasSameValue(first, own, field))
}

/** Whether a draft would change a form with the values `first`. */
function hasChanges(draft: Draft, first: Values): boolean {
  return !hasSameValues(Object.assign({}, first, ownValues(draft)), first)
}

function valuesOf(values: Values, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, values[field] ?? '']))
}

function withoutPasswords(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !/password/i.test(name)))
}

function newId(): string {
  return `${Date.now()} ${Math.random()}`
}

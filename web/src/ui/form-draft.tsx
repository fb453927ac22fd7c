/**
 * A form whose text is not lost: leaving is asked about (unsaved.ts), and what was typed is kept as a draft (drafts.ts), which the form
 * offers the next time and never fills in by itself. A draft brings back only what was changed in it, so that what somebody else has
 * saved meanwhile stays; what both have changed is told at the field. Passwords are in no draft.
 */
import { Button } from '@mantine/core'
import { use, useEffect, useRef, useState } from 'react'
import type { DefaultValues, FieldValues, UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import { type Draft, draftKey, DraftOwner, dropDraft, dropDrafts, keepDraft, readDrafts } from './drafts.ts'
import classes from './form-draft.module.css'
import { type FormSchema, useForm } from './form.tsx'
import { Moment } from './moment.tsx'
import { forgetUnsavedWork, markUnsaved } from './unsaved.ts'

type Values = Readonly<Record<string, unknown>>

interface DraftOptions {
  /** What tells the form and its item from others: `social-tasks 17`. */
  name: string
  /** The version of the item that is being changed. */
  basis?: number | undefined
}

interface Offer {
  draft: Draft
  /** Another version was saved since the draft was begun. */
  isOutdated: boolean
  onUse: () => void
  onDiscard: () => void
}

/** `useForm` with drafts: `offer` is for a `DraftOffer` above the form. Call `finish` in place of `reset` once the form was saved. */
export function useDraftForm<Schema extends FormSchema>(
  load: () => Promise<Schema>,
  defaultValues: DefaultValues<z.input<Schema>>,
  options: DraftOptions,
) {
  const form = useForm(load, defaultValues)
  return { ...form, ...useDraft(form, defaultValues, options) }
}

function useDraft<Input extends FieldValues, Output>(
  form: UseFormReturn<Input, unknown, Output>,
  defaultValues: DefaultValues<Input>,
  { name, basis }: DraftOptions,
): { offer: Offer | undefined; savedMeanwhile: Values; keepAsDraft: () => void; finish: () => void } {
  const key = draftKey(use(DraftOwner), name)
  const [first] = useState(defaultValues)
  const [draft, setDraft] = useState(() => readDrafts(key).find((one) => hasOwn(one, first)))
  const [savedMeanwhile, setSavedMeanwhile] = useState<Values>({})
  /** The draft that is being typed now. */
  const current = useRef({ id: newId(), basis, base: withoutPasswords(first) })
  const { subscribe, reset, getValues } = form

  useEffect(() => {
    const holder = current.current
    const stop = subscribe({
      formState: { values: true },
      callback: ({ values }) => {
        markUnsaved(holder, !isSame(values, first))
        if (isSame(withoutPasswords(values), withoutPasswords(first))) dropDraft(key, current.current.id)
        else keepDraft(key, { ...current.current, at: new Date().toISOString(), values: withoutPasswords(values) })
      },
    })
    return () => {
      stop()
      markUnsaved(holder, false)
    }
  }, [subscribe, first, key])

  const handleUse = (offered: Draft) => {
    // What has been typed meanwhile is a draft, too, and is offered in turn, as an older one is.
    setDraft(readDrafts(key).find((one) => one.id !== offered.id && hasOwn(one, first)))
    const own = ownValues(offered)
    const { base } = offered
    const clashes = base ? Object.keys(own).filter((field) => isOther(first, base, field) && isOther(first, own, field)) : []
    setSavedMeanwhile(valuesOf(first, clashes))
    // Somebody who leaves the form once more is told again what both have changed.
    current.current = {
      id: offered.id,
      basis: clashes.length === 0 ? basis : offered.basis,
      base: { ...withoutPasswords(first), ...valuesOf(base ?? {}, clashes) },
    }
    reset(Object.assign({}, first, own), { keepDefaultValues: true })
  }

  const handleDiscard = (offered: Draft) => {
    dropDraft(key, offered.id)
    setDraft(readDrafts(key).find((one) => one.id !== current.current.id && hasOwn(one, first)))
  }

  return {
    offer: draft && {
      draft,
      isOutdated: draft.basis !== basis,
      onUse: () => handleUse(draft),
      onDiscard: () => handleDiscard(draft),
    },
    /** What is saved of the fields that the draft in use and somebody else have both changed. */
    savedMeanwhile,
    /** Another tab that has saved the form meanwhile has dropped its drafts. */
    keepAsDraft() {
      const values = withoutPasswords(getValues())
      keepDraft(key, { ...current.current, at: new Date().toISOString(), values })
    },
    finish() {
      dropDrafts(key, { but: draft?.id }) // one that is offered still waits for its answer
      forgetUnsavedWork()
      setSavedMeanwhile({})
      reset()
    },
  }
}

/** Says above a form that there is a draft, if there is one. */
export function DraftOffer({ offer }: { offer: Offer | undefined }) {
  const place = useRef<HTMLDivElement>(null)
  if (!offer) return null
  /** The button goes; the focus goes on to the form's first field. */
  const goOn = (act: () => void) => {
    place.current?.parentElement?.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus()
    act()
  }
  return (
    <div ref={place} className={classes['offer']}>
      <p>
        Unsaved draft, <Moment iso={offer.draft.at} />
        {offer.isOutdated && '. The saved version has changed since.'}
      </p>
      <div className={classes['buttons']}>
        <Button variant="default" size="compact-sm" onClick={() => goOn(offer.onUse)}>
          Use Draft
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={() => goOn(offer.onDiscard)}>
          Discard Draft
        </Button>
      </div>
    </div>
  )
}

/** What a draft changes. */
function ownValues({ base, values }: Draft): Values {
  if (!base) return values
  return valuesOf(
    values,
    Object.keys(values).filter((field) => isOther(values, base, field)),
  )
}

/** Whether a draft makes anything of a form that begins with `first` that it is not already. */
function hasOwn(draft: Draft, first: Values): boolean {
  return !isSame(Object.assign({}, first, ownValues(draft)), first)
}

function isOther(one: Values, other: Values, field: string): boolean {
  return !isSame(valuesOf(one, [field]), valuesOf(other, [field]))
}

function valuesOf(values: Values, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, values[field] ?? '']))
}

/** Whether two fillings of a form say the same: an empty field and one that is missing do. */
function isSame(a: object, b: object): boolean {
  return said(a) === said(b)
}

function said(values: object): string {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function withoutPasswords(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !/password/i.test(name)))
}

function newId(): string {
  return `${Date.now()} ${Math.random()}`
}

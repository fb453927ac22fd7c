/**
 * A form whose text is not lost: leaving is asked about (unsaved.ts), and what was typed is kept as a draft (drafts.ts), which the form
 * offers the next time and never fills in by itself. Passwords are in no draft.
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
): { offer: Offer | undefined; keepAsDraft: () => void; finish: () => void } {
  const key = draftKey(use(DraftOwner), name)
  const [first] = useState(defaultValues)
  const [draft, setDraft] = useState(() => readDrafts(key).find(({ values }) => !isSame(values, first)))
  /** The draft that is being typed now. */
  const current = useRef({ id: newId() })
  const { subscribe, reset, getValues } = form

  useEffect(() => {
    const holder = current.current
    const stop = subscribe({
      formState: { values: true },
      callback: ({ values }) => {
        markUnsaved(holder, !isSame(values, first))
        const { id } = holder
        if (isSame(withoutPasswords(values), withoutPasswords(first))) dropDraft(key, id)
        else keepDraft(key, { id, at: new Date().toISOString(), basis, values: withoutPasswords(values) })
      },
    })
    return () => {
      stop()
      markUnsaved(holder, false)
    }
  }, [subscribe, first, key, basis])

  const handleUse = (offered: Draft) => {
    // What has been typed meanwhile is a draft, too, and is offered in turn.
    setDraft(readDrafts(key).find(({ id }) => id === current.current.id))
    current.current.id = offered.id
    reset(Object.assign({}, first, offered.values), { keepDefaultValues: true })
  }

  const handleDiscard = (offered: Draft) => {
    dropDraft(key, offered.id)
    setDraft(readDrafts(key).find(({ id, values }) => id !== current.current.id && !isSame(values, first)))
  }

  return {
    offer: draft && {
      draft,
      isOutdated: draft.basis !== basis,
      onUse: () => handleUse(draft),
      onDiscard: () => handleDiscard(draft),
    },
    /** Another tab that has saved the form meanwhile has dropped its drafts. */
    keepAsDraft() {
      const values = withoutPasswords(getValues())
      keepDraft(key, { id: current.current.id, at: new Date().toISOString(), basis, values })
    },
    finish() {
      dropDrafts(key)
      forgetUnsavedWork()
      reset()
    },
  }
}

/** Says above a form that there is a draft, if there is one. */
export function DraftOffer({ offer }: { offer: Offer | undefined }) {
  if (!offer) return null
  return (
    <div className={classes['offer']}>
      <p>
        Unsaved draft, <Moment iso={offer.draft.at} />
        {offer.isOutdated && '. The saved version has changed since.'}
      </p>
      <div className={classes['buttons']}>
        <Button variant="default" size="compact-sm" onClick={offer.onUse}>
          Use Draft
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={offer.onDiscard}>
          Discard Draft
        </Button>
      </div>
    </div>
  )
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

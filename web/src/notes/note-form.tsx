/**
 * The form for a note, new or changed. An @ opens a menu of the colleagues who may read the record; Ctrl-Enter saves. The menu is a listbox
 * below the text, which keeps the focus.
 */
import type { Colleague, NoteInput } from '@arcade/contract/notes/calls'
import { mentionOf, MAX_NOTE_LENGTH, type NoteKind } from '@arcade/contract/notes/fields'
import { characterCount, typedText } from '@arcade/contract/text'
import { Button, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { type Control, useFormState, useWatch } from 'react-hook-form'
import { api } from '#src/client/client.ts'
import { useSession } from '#src/session.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, type Refusal, SubmitButton, useField, useForm } from '#src/ui/form.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { useUnsaved } from '#src/ui/unsaved.ts'
import { mentionAt, mentionedIn, offered, type TypedMention } from './mention-text.ts'
import classes from './notes.module.css'

interface NoteFormProps {
  kind: NoteKind
  /** The label of the field, and the name of the form. */
  label: string
  submitLabel: string
  /** The note to change. */
  before?: { text: string; mentions: readonly Colleague[] }
  /** Saves the note. Returns why it was not saved. */
  onSave: (input: NoteInput) => Promise<Refusal | void>
  /** Loads the version that somebody else saved. */
  onReload?: () => void
  onCancel?: () => void
}

export function NoteForm({ kind, label, submitLabel, before, onSave, onReload, onCancel }: NoteFormProps) {
  const form = useForm(() => import('@arcade/contract/notes/calls').then(({ noteInput }) => noteInput.pick({ text: true })), {
    text: before?.text ?? '',
  })
  const { isDirty } = useFormState({ control: form.control })
  useUnsaved(isDirty, { isKept: false })
  const [isUsed, setIsUsed] = useState(before !== undefined)
  const people = useColleagues(kind, isUsed)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(before?.mentions.map(({ id }) => id)))

  const handleSubmit = async ({ text }: { text: string }) => {
    const refused = await onSave({ text, mentions: mentionedIn(text, people, chosen) })
    if (!refused) form.reset()
    return refused
  }
  const handleText = (text: string) => form.setValue('text', text, { shouldDirty: true, shouldTouch: true, shouldValidate: true })

  return (
    <div className={classes['form']} onFocus={() => setIsUsed(true)}>
      <Form form={form} onSubmit={handleSubmit} label={label}>
        <NoteField
          control={form.control}
          label={label}
          people={people}
          isFocused={before !== undefined}
          onChoose={({ id }) => setChosen(new Set([...chosen, id]))}
          onText={handleText}
          onCancel={onCancel}
        />
        <FormRefusal form={form} onReload={onReload} />
        {(isDirty || before !== undefined) && (
          <div className={classes['buttons']}>
            <SubmitButton>{submitLabel}</SubmitButton>
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            )}
            <Remainder control={form.control} />
          </div>
        )}
      </Form>
    </div>
  )
}

/** Returns the colleagues, the signed-in person last. */
function useColleagues(kind: NoteKind, enabled: boolean): readonly Colleague[] {
  const { user } = useSession()
  const { data } = useQuery(api.notes.colleagues.queryOptions({ input: { kind }, enabled }))
  return (data?.people ?? []).toSorted((a, b) => Number(a.id === user?.id) - Number(b.id === user?.id))
}

type FormControl = Control<{ text: string }, unknown, { text: string }>

interface NoteFieldProps {
  control: FormControl
  label: string
  people: readonly Colleague[]
  /** The field has the focus, with the caret at the end, when it appears. */
  isFocused: boolean
  onChoose: (colleague: Colleague) => void
  onText: (text: string) => void
  onCancel: (() => void) | undefined
}

/** The text of the note, and below it the menu of colleagues while a mention is being typed. */
function NoteField({ control, label, people, isFocused, onChoose, onText, onCancel }: NoteFieldProps) {
  const { field, wrapper } = useField({ control, name: 'text', label, description: 'An @ mentions a colleague.' })
  const area = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const { mention, options, active, look, setActiveIndex, move, close } = useMentionMenu(people)
  useFocusAtEnd(area, isFocused)

  const choose = (colleague: Colleague) => {
    if (!mention || !area.current) return
    const end = mention.start + 1 + mention.typed.length
    const inserted = `${mentionOf(colleague.name)} `
    onText(field.value.slice(0, mention.start) + inserted + field.value.slice(end))
    onChoose(colleague)
    close()
    putCaret(area.current, mention.start + inserted.length)
  }
  const handleMenuKey = (event: KeyboardEvent): boolean => {
    const { key } = event
    if (!active) return false
    if ((key === 'Enter' && !event.ctrlKey && !event.metaKey) || key === 'Tab') choose(active)
    else if (key === 'Escape') close()
    else if (!move(key)) return false
    event.stopPropagation()
    return true
  }
  const handleKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (handleMenuKey(event)) event.preventDefault()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
    else if (event.key === 'Escape') onCancel?.()
  }

  return (
    <div className={classes['field']}>
      <Textarea
        {...wrapper}
        {...field}
        ref={area}
        autosize
        minRows={2}
        maxRows={12}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={active && optionId(id, active)}
        aria-keyshortcuts="Control+Enter"
        onChange={(event) => {
          field.onChange(event)
          setActiveIndex(0)
          look(event.target)
        }}
        onClick={({ currentTarget }) => look(currentTarget)}
        onBlur={() => {
          field.onBlur()
          close()
        }}
        onKeyDown={handleKeyDown}
      />
      <MentionMenu id={id} options={options} active={active} onPoint={setActiveIndex} onChoose={choose} />
    </div>
  )
}

/** Returns the mention that is being typed, the colleagues that it may mean, and the one among them that Enter chooses. */
function useMentionMenu(people: readonly Colleague[]) {
  const [mention, setMention] = useState<TypedMention>()
  const [activeIndex, setActiveIndex] = useState(0)
  const options = mention ? offered(people, mention) : []
  return {
    mention,
    options,
    active: options[Math.min(activeIndex, options.length - 1)],
    /** Reads the mention at the caret. */
    look: ({ value, selectionStart }: HTMLTextAreaElement) => setMention(mentionAt(value, selectionStart)),
    setActiveIndex,
    /** Selects another colleague by an arrow key; returns false for other keys. */
    move: (key: string): boolean => {
      const step = { ArrowDown: 1, ArrowUp: options.length - 1 }[key]
      if (step === undefined) return false
      setActiveIndex((activeIndex + step) % options.length)
      return true
    },
    close: () => setMention(undefined),
  }
}

interface MentionMenuProps {
  /** The id of the field. */
  id: string
  options: readonly Colleague[]
  active: Colleague | undefined
  /** Called when the pointer moves over the option at an index. */
  onPoint: (index: number) => void
  onChoose: (colleague: Colleague) => void
}

/** The list of colleagues below the field, and what screen readers say of it. */
function MentionMenu({ id, options, active, onPoint, onChoose }: MentionMenuProps) {
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (options.length > 0) menu.current?.scrollIntoView({ block: 'nearest' })
  }, [options.length])
  return (
    <>
      <div
        ref={menu}
        id={`${id}-list`}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a list of options below a text has no tag
        role="listbox"
        aria-label="Colleagues"
        hidden={options.length === 0}
        className={classes['menu']}
      >
        {options.map((option, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the text has the focus and handles the keys
          <div
            key={option.id}
            id={optionId(id, option)}
            // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an option of a list that is no select
            role="option"
            aria-selected={option === active}
            tabIndex={-1}
            className={classes['option']}
            data-active={option === active || undefined}
            onMouseDown={(event) => event.preventDefault()} // the text keeps the focus
            onMouseMove={() => onPoint(index)}
            onClick={() => onChoose(option)}
          >
            {option.name}
          </div>
        ))}
      </div>
      <output className="app-sr-only">
        {active && `${options.length === 1 ? '1 colleague' : `${options.length} colleagues`}, Enter mentions ${active.name}`}
      </output>
    </>
  )
}

function optionId(id: string, option: Colleague): string {
  return `${id}-${option.id}`
}

/** Puts the caret behind a mention that was inserted, once the field has its new text. */
function putCaret(area: HTMLTextAreaElement, at: number): void {
  requestAnimationFrame(() => {
    area.focus()
    area.setSelectionRange(at, at)
  })
}

function useFocusAtEnd(area: RefObject<HTMLTextAreaElement | null>, isWanted: boolean): void {
  useEffect(() => {
    const { current } = area
    if (!isWanted || !current) return
    current.focus()
    current.setSelectionRange(current.value.length, current.value.length)
  }, [area, isWanted])
}

const REMAINDER_SHOWN_FROM = 200

/** How many characters are left, near the limit. */
function Remainder({ control }: { control: FormControl }) {
  const text = useWatch({ control, name: 'text' })
  const left = MAX_NOTE_LENGTH - characterCount(typedText(text))
  if (left > REMAINDER_SHOWN_FROM) return null
  return (
    <span className={classes['remainder']} data-over={left < 0 || undefined}>
      {left < 0 ? `${formatted(-left)} characters too many` : `${formatted(left)} characters left`}
    </span>
  )
}

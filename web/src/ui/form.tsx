/**
 * Forms (§5). The contract's schema validates the fields, and errors show once a field was touched; the server's errors show in the same
 * place. A form that is being sent is not sent again. An error stands beside its field's label: if it shifted the layout on blur, the click
 * that caused it would miss its button.
 */
import { characterCount, isolated, typedText } from '@arcade/contract/text'
import { zodResolver } from '@hookform/resolvers/zod'
import { Button, type ButtonProps, Loader, NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core'
import {
  createContext,
  type HTMLInputAutoCompleteAttribute,
  type ReactNode,
  type RefObject,
  use,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import {
  type Control,
  type DefaultValues,
  type FieldPath,
  type FieldValues,
  useController,
  useForm as useHookForm,
  useFormState,
  type UseFormReturn,
} from 'react-hook-form'
import type { z } from 'zod'
import classes from './form.module.css'
import { toast } from './toast.tsx'

/** A form's schema: from an object to an object. */
export type FormSchema = z.ZodType<FieldValues, FieldValues>

export interface FormOptions<Input> {
  /** Returns the values without those of fields that are hidden now: these keep their input, but are neither checked nor sent. */
  used?: (values: Input) => Input
}

/**
 * A form for the schema that `load` imports, which also types the fields and the submit handler. The schema is loaded when the form gets
 * the focus, because zod is a sixth of the login page. If it cannot be loaded, the input is sent unchecked and the server validates it.
 */
export function useForm<Schema extends FormSchema>(
  load: () => Promise<Schema>,
  defaultValues: DefaultValues<z.input<Schema>>,
  { used = (values) => values }: FormOptions<z.input<Schema>> = {},
) {
  const loading = useRef<Promise<Schema | undefined>>(undefined)
  const loadOnce = () => (loading.current ??= load().catch(() => (loading.current = undefined)))
  const form = useHookForm<z.input<Schema>, unknown, z.output<Schema>>({
    resolver: async (all, context, options) => {
      const schema = await loadOnce()
      const values = used(all)
      if (!schema) return { values: values as z.output<Schema>, errors: {} }
      return zodResolver(schema)(values, context, options)
    },
    mode: 'onTouched',
    defaultValues,
  })
  const isBusy = useRef(false)
  const resetLater = useRef<() => void>(undefined)
  const [refusal, setRefusal] = useState<Refusal>()

  // Being offline is no longer the reason.
  useEffect(() => {
    const handleOnline = () => setRefusal((last) => (last?.code === 'OFFLINE' ? undefined : last))
    window.addEventListener('online', handleOnline)
    return () => window.removeEventListener('online', handleOnline)
  }, [])

  /** Validates the form and calls `send`, unless a submit is under way. Shows the server's field errors at their fields. */
  const submit = async (send: (values: z.output<Schema>) => Promise<Refusal | void>): Promise<void> => {
    if (isBusy.current) return
    isBusy.current = true
    setRefusal(undefined)
    toast.dropFailures()
    try {
      await form.handleSubmit(async (values) => {
        const refused = await send(values)
        if (!showAtFields(form, refused)) setRefusal(refused ?? undefined)
      })()
    } finally {
      isBusy.current = false
      resetLater.current?.()
      resetLater.current = undefined
    }
  }
  /** Resets the form, but not before a running submit has ended: otherwise an empty form would be validated and show errors. */
  const reset: typeof form.reset = (...values) => {
    if (isBusy.current) resetLater.current = () => form.reset(...values)
    else form.reset(...values)
  }
  return { ...form, reset, submit, refusal, isBusy: () => isBusy.current, loadSchema: () => void loadOnce() }
}

/** Shows the refusal's field errors. Returns whether any belongs to a field of the form. */
function showAtFields<Input extends FieldValues, Output>(form: UseFormReturn<Input, unknown, Output>, refusal: Refusal | void) {
  const names = Object.keys(form.getValues())
  const refused = Object.entries(refusal?.fields ?? {}).filter(([name]) => names.includes(name))
  for (const [index, [name, message]] of refused.entries())
    form.setError(name as FieldPath<Input>, { type: 'server', message }, { shouldFocus: index === 0 })
  return refused.length > 0
}

/** Why a form was not saved. */
export interface Refusal {
  /** Messages for fields, by the fields' names in the API. */
  fields?: Record<string, string>
  /** The message if no field shows one. The form's `refusal` keeps it until the form is sent again. */
  message?: string
  code?: string
  retryAfterSeconds?: number | undefined
}

interface FormProps<Input extends FieldValues, Output> {
  form: UseFormReturn<Input, unknown, Output> & {
    submit: (send: (values: Output) => Promise<Refusal | void>) => Promise<void>
    /** Whether a submit is under way. */
    isBusy: () => boolean
    loadSchema: () => void
    /** Saved values of fields that the draft changes as well, by field name; shown at the fields. */
    savedMeanwhile?: Readonly<Record<string, unknown>>
  }
  /** Receives the parsed values, shows its own toasts, and returns the server's refusal, if any. */
  onSubmit: (values: Output) => Promise<Refusal | void>
  /** The form's accessible name. */
  label: string
  children: ReactNode
}

interface Submitting {
  isSubmitting: boolean
  /** The button that was pressed, unless it is the submit button. */
  pressed: string | undefined
  press: (id: string) => void
}

const SubmittingContext = createContext<Submitting>({ isSubmitting: false, pressed: undefined, press: () => {} })
const SavedMeanwhile = createContext<Readonly<Record<string, unknown>>>({})

export function Form<Input extends FieldValues, Output>({ form, onSubmit, label, children }: FormProps<Input, Output>) {
  const { isSubmitting } = useFormState({ control: form.control })
  const [pressed, press] = useState<string>()
  const submitting = useMemo(() => ({ isSubmitting, pressed, press }), [isSubmitting, pressed])
  const element = useRef<HTMLFormElement>(null)
  useLock(element, form.isBusy)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it only observes the focus of its fields
    <form
      ref={element}
      noValidate
      aria-label={label}
      className={classes['form']}
      onFocus={form.loadSchema}
      onSubmit={(event) => {
        event.preventDefault()
        press(undefined)
        void form.submit(onSubmit)
      }}
    >
      <SavedMeanwhile value={form.savedMeanwhile ?? {}}>
        <SubmittingContext value={submitting}>{children}</SubmittingContext>
      </SavedMeanwhile>
    </form>
  )
}

/** Refuses what is typed while the form is being sent: it would be neither sent nor kept. */
function useLock(form: RefObject<HTMLFormElement | null>, isBusy: () => boolean): void {
  const refuse = useEffectEvent((event: Event) => {
    if (isBusy()) event.preventDefault()
  })
  useEffect(() => {
    const { current } = form
    const listener = (event: Event) => refuse(event)
    current?.addEventListener('beforeinput', listener)
    return () => current?.removeEventListener('beforeinput', listener)
  }, [form])
}

/** The submit button, which keeps the focus while it is busy. */
export function SubmitButton({ children, ...props }: ButtonProps & { children: ReactNode }) {
  const { isSubmitting, pressed } = use(SubmittingContext)
  return (
    // The padding leaves room for the loader beside the label.
    <Button type="submit" px="2rem" aria-disabled={isSubmitting} className={classes['submit'] ?? ''} {...props}>
      {children}
      {isSubmitting && pressed === undefined && <Busy />}
    </Button>
  )
}

function Busy() {
  return <Loader size="xs" color="currentColor" className={classes['busy'] ?? ''} aria-hidden />
}

/** A second submit button, which Enter in a field does not trigger. `onClick` calls the form's `submit`. */
export function OtherSubmitButton({ children, onClick }: { children: ReactNode; onClick: () => void }) {
  const id = useId()
  const { isSubmitting, pressed, press } = use(SubmittingContext)
  const handleClick = () => {
    press(id)
    onClick()
  }
  return (
    <Button variant="default" aria-disabled={isSubmitting} className={classes['other'] ?? ''} onClick={handleClick}>
      {children}
      {isSubmitting && pressed === id && <Busy />}
    </Button>
  )
}

/** Puts fields beside each other where there is room. A form has them in one or more groups. */
export function FormColumns({ children }: { children: ReactNode }) {
  return <div className={classes['columns']}>{children}</div>
}

interface FormActionsProps {
  back?: ReactNode
  /** Says why the form was not saved. */
  notice?: ReactNode
  children?: ReactNode
}

/** The buttons at the end of a form: back first, then those that submit. */
export function FormActions({ back, notice, children }: FormActionsProps) {
  return (
    <div className={classes['actions']} data-form-actions>
      {back}
      {notice}
      <div className={classes['submits']}>{children}</div>
    </div>
  )
}

export interface FieldProps<Input extends FieldValues, Output = unknown> {
  control: Control<Input, unknown, Output>
  name: FieldPath<Input>
  label: string
  description?: string
  /** Marks the field as required. The schema decides whether it is. */
  isRequired?: boolean
  /** Fields to validate again when this one changes. */
  checks?: FieldPath<Input>[]
  /** The field takes a whole line among the columns of a form. */
  isWide?: boolean
  /** A description below the input, where it does not part the inputs of a line. */
  hint?: string
  /** Returns a value that somebody else saved in words, if its text is not what people read. */
  savedInWords?: (saved: unknown) => string
}

/** Binds a field to the form. `error` is undefined until the field was touched or the form submitted. */
export function useField<Input extends FieldValues, Output>({
  control,
  name,
  label,
  description,
  isRequired,
  checks,
  isWide,
  hint,
  savedInWords = String,
}: FieldProps<Input, Output>) {
  const { field, fieldState, formState } = useController({ control, name, ...(checks && { rules: { deps: checks } }) })
  const saved = use(SavedMeanwhile)[name]
  const isShown = fieldState.isTouched || formState.isSubmitted
  const error = isShown ? fieldState.error?.message : undefined
  return {
    field: { ...field, value: (field.value ?? '') as string },
    wrapper: {
      label,
      description: saved === undefined ? (description ?? hint) : savedText(saved, savedInWords),
      ...(hint !== undefined && { inputWrapperOrder: HINT_BELOW }),
      error,
      size: 'sm',
      'aria-invalid': error ? true : undefined,
      'aria-required': isRequired,
      wrapperProps: { 'data-required': isRequired, 'data-wide': isWide },
      classNames: { root: classes['field'] ?? '', error: classes['error'] ?? '' },
      errorProps: { 'aria-live': 'polite' },
    } as const,
  }
}

const HINT_BELOW: ('label' | 'error' | 'input' | 'description')[] = ['label', 'input', 'description', 'error']

/** The hint at a field that both the draft in use and somebody else changed. */
function savedText(saved: unknown, inWords: (saved: unknown) => string): string {
  return `Somebody else has changed this, too. Saved now: ${saved === '' ? '–' : isolated(inWords(saved))}`
}

interface TextFieldProps<Input extends FieldValues, Output> extends FieldProps<Input, Output> {
  type?: 'text' | 'email' | 'url'
  autoComplete?: HTMLInputAutoCompleteAttribute
  placeholder?: string
  /** Shows a counter of characters, counted as the schema counts them, up to this limit. The schema enforces the limit. */
  countsTo?: number
}

export function TextField<Input extends FieldValues, Output>(props: TextFieldProps<Input, Output>) {
  const { field, wrapper } = useField(props)
  const { type = 'text', autoComplete = 'off', placeholder, countsTo } = props
  const input = { ...wrapper, ...field, type, autoComplete, placeholder }
  if (countsTo === undefined) return <TextInput {...input} />
  const length = characterCount(typedText(field.value))
  return (
    <>
      <TextInput
        {...input}
        rightSection={
          <span className={classes['counter']} data-over={length > countsTo || undefined} aria-hidden>
            {length}/{countsTo}
          </span>
        }
        rightSectionWidth="4rem"
        rightSectionPointerEvents="none"
      />
      <span className="app-sr-only" aria-live="polite">
        {remainder(countsTo - length)}
      </span>
    </>
  )
}

const ANNOUNCED_FROM = 10

/** Returns the counter's text for screen readers, only near the limit. */
function remainder(left: number): string {
  if (left < 0) return `${characters(-left)} too many`
  return left <= ANNOUNCED_FROM ? `${characters(left)} left` : ''
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`
}

/** A password field with a button that shows its characters. */
export function PasswordField<Input extends FieldValues, Output>(
  props: FieldProps<Input, Output> & { autoComplete: 'current-password' | 'new-password' },
) {
  const { field, wrapper } = useField(props)
  return (
    <PasswordInput
      {...wrapper}
      {...field}
      autoComplete={props.autoComplete}
      visibilityToggleFocusable
      // The label must not contain `Password`, so that only the field has that name.
      visibilityToggleButtonProps={{ 'aria-label': 'Show characters' }}
    />
  )
}

export function TextareaField<Input extends FieldValues, Output>(props: FieldProps<Input, Output> & { rows?: number }) {
  const { field, wrapper } = useField(props)
  return <Textarea {...wrapper} {...field} rows={props.rows ?? 4} />
}

interface SelectFieldProps<Input extends FieldValues, Output> extends FieldProps<Input, Output> {
  /** The text of the first option, which stands for no value. */
  placeholder: string
  options: readonly { value: string; label: string }[]
}

export function SelectField<Input extends FieldValues, Output>(props: SelectFieldProps<Input, Output>) {
  const { field, wrapper } = useField(props)
  return (
    <NativeSelect {...wrapper} {...field}>
      <option value="" disabled>
        {props.placeholder}
      </option>
      {props.options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </NativeSelect>
  )
}

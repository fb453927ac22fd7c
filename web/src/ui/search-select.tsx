/**
 * A field that chooses one of many options: a text that narrows them down, and below it the list of those that match (ARIA's combobox). The
 * options are known beforehand; a `NativeSelect` is better for up to twenty.
 */
import { searchedText } from '@arcade/contract/search'
import { TextInput } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { type ChangeEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import classes from './search-select.module.css'

export interface SearchOption {
  value: string
  label: string
  /** A short word beside the label, such as the kind of an item. */
  detail?: string
}

interface SearchSelectProps {
  label: string
  value: string | undefined
  /** Undefined while they are loaded. */
  options: readonly SearchOption[] | undefined
  onChange: (value: string | undefined) => void
  placeholder: string
  /** Shown in the list when no option matches. */
  emptyText: string
  description?: string
  error?: string | undefined
  isRequired?: boolean
}

/** Most options that are drawn at once; the text finds the others. */
const MAX_SHOWN = 50

export function SearchSelect(props: SearchSelectProps) {
  const { label, options, placeholder, emptyText, description, error, isRequired } = props
  const id = useId()
  const { typed, chosen, matches, active, choose, setActiveIndex, handlers } = useCombobox(props)
  const isOpen = typed !== undefined

  return (
    <div className={classes['field']}>
      <TextInput
        label={label}
        description={description}
        error={error}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input with a list below it, which its text narrows down
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && active ? optionId(id, active) : undefined}
        aria-required={isRequired}
        wrapperProps={{ 'data-required': isRequired }}
        autoComplete="off"
        spellCheck={false}
        placeholder={options ? placeholder : 'Loading…'}
        value={typed ?? chosen?.label ?? ''}
        rightSection={<IconSelector size={16} aria-hidden />}
        rightSectionPointerEvents="none"
        onFocus={({ target }) => target.select()}
        {...handlers}
      />
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a list of options that a text narrows down has no tag */}
      <div id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen} className={classes['list']}>
        {matches.map((option) => (
          <Option
            key={option.value}
            id={optionId(id, option)}
            option={option}
            isActive={option === active}
            isChosen={option === chosen}
            onPoint={() => setActiveIndex(matches.indexOf(option))}
            onChoose={() => choose(option)}
          />
        ))}
      </div>
      {isOpen && matches.length === 0 && <output className={classes['empty']}>{options ? emptyText : 'Loading…'}</output>}
    </div>
  )
}

/** Returns what was typed, the options that match it, the one among them that Enter chooses, and the handlers of the field. */
function useCombobox({ value, options, onChange }: Pick<SearchSelectProps, 'value' | 'options' | 'onChange'>) {
  const [typed, setTyped] = useState<string>()
  const [activeIndex, setActiveIndex] = useState(0)
  const chosen = options?.find((option) => option.value === value)
  const isOpen = typed !== undefined
  const matches = isOpen ? matching(options, typed === chosen?.label ? '' : typed) : []
  const active = matches[Math.min(activeIndex, matches.length - 1)]

  const open = () => {
    if (isOpen) return
    setTyped(chosen?.label ?? '')
    setActiveIndex(
      Math.max(
        0,
        matching(options, '').findIndex((option) => option === chosen),
      ),
    )
  }
  const choose = (option: SearchOption | undefined) => {
    setTyped(undefined)
    if (option?.value !== value) onChange(option?.value)
  }
  const handleKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault()
      if (!isOpen) open()
      else if (matches.length > 0) setActiveIndex((activeIndex + (key === 'ArrowDown' ? 1 : matches.length - 1)) % matches.length)
    }
    if (!isOpen) return
    if (key === 'Enter') {
      event.preventDefault() // it chooses, and submits no form
      choose(typed.trim() === '' && value !== undefined && activeIndex === 0 ? undefined : (active ?? chosen))
    }
    if (key === 'Escape') {
      event.stopPropagation() // it closes the list only, not the pane around it
      setTyped(undefined)
    }
  }
  return {
    /** What was typed; undefined while the list is closed. */
    typed,
    /** The option of the field's value. */
    chosen,
    matches,
    active,
    choose,
    setActiveIndex,
    handlers: {
      onChange: ({ target }: ChangeEvent<HTMLInputElement>) => {
        setTyped(target.value)
        setActiveIndex(0)
      },
      onClick: open,
      onBlur: () => (typed?.trim() === '' && value !== undefined ? choose(undefined) : setTyped(undefined)),
      onKeyDown: handleKeyDown,
    },
  }
}

interface OptionProps {
  id: string
  option: SearchOption
  isActive: boolean
  isChosen: boolean
  onPoint: () => void
  onChoose: () => void
}

function Option({ id, option: { label, detail }, isActive, isChosen, onPoint, onChoose }: OptionProps) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are those of the field
    <div
      ref={element}
      id={id}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an option of the listbox above
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      data-active={isActive || undefined}
      className={classes['option']}
      onPointerMove={() => !isActive && onPoint()}
      onPointerDown={(event) => event.preventDefault()} // the field keeps the focus
      onClick={onChoose}
    >
      <span className={classes['name']}>{label}</span>
      {detail && <span className={classes['detail']}>{detail}</span>}
    </div>
  )
}

function optionId(id: string, { value }: SearchOption): string {
  return `${id}-${value.replaceAll(/\s/g, '-')}`
}

/** Returns the options whose label or detail has every word of the text. */
function matching(options: readonly SearchOption[] | undefined, text: string): readonly SearchOption[] {
  const words = searchedText(text).split(' ')
  const found = (options ?? []).filter(({ label, detail = '' }) => {
    const within = searchedText(`${label} ${detail}`)
    return words.every((word) => within.includes(word))
  })
  return found.slice(0, MAX_SHOWN)
}

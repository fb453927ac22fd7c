/**
 * An input for a number. It accepts any text: dropping letters while typing would turn `1e3` into 13. Text that is not a number, or not
 * exactly representable as a double (design §5), is passed on as text.
 */
import { TextInput, type TextInputProps } from '@mantine/core'
import { type Ref, useState } from 'react'

interface NumberInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** A number, text that is not a number, or undefined for an empty input. */
  value: number | string | undefined
  onChange: (value: number | string | undefined) => void
  ref?: Ref<HTMLInputElement>
}

export function NumberInput({ value, onChange, onBlur, ...props }: NumberInputProps) {
  /** The text being typed, which may be on its way to another number: `2.0` to `2.05`. */
  const [typed, setTyped] = useState<string>()
  const shown = typed !== undefined && toNumber(typed) === value ? typed : toText(value)
  return (
    <TextInput
      {...props}
      inputMode="decimal"
      autoComplete="off"
      value={shown}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        onChange(toNumber(event.currentTarget.value))
      }}
      onBlur={(event) => {
        setTyped(undefined)
        onBlur?.(event)
      }}
    />
  )
}

const plain = new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: 100 })

function toText(value: number | string | undefined): string {
  return typeof value === 'number' ? plain.format(value) : (value ?? '')
}

const NUMBER = /^([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i

/** Returns the number that a text stands for, the text itself if it is not exactly a number, or undefined if it is empty. */
function toNumber(text: string): number | string | undefined {
  const trimmed = withoutGrouping(text.trim())
  if (trimmed === '') return undefined
  const number = Number(trimmed) || 0 // 0 instead of -0
  return NUMBER.test(trimmed) && significantDigits(trimmed) === significantDigits(String(number)) ? number : text
}

/**
 * Removes the commas of `1,234,567.5`, because numbers are shown, and so copied, that way. Other commas may mean something else and stay.
 */
function withoutGrouping(text: string): string {
  return /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(text) ? text.replaceAll(',', '') : text
}

/** Returns the significant digits of a number with their power of ten: the same for `2.50`, `02.5` and `25e-1`. */
function significantDigits(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = NUMBER.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const exponent = Number(power) - fraction.length + digits.length - significant.length
  return `${sign === '-' ? '-' : ''}${significant}e${exponent}`
}

/**
 * A box for a number. It takes any text: a letter that is dropped while somebody types would make another number of the rest, 13 of
 * `1e3`. What says no number, or one that a double cannot hold exactly (design §5), is handed on as the text that it is.
 */
import { TextInput, type TextInputProps } from '@mantine/core'
import { useState } from 'react'

interface NumberInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** A number, a text that says none, or undefined for an empty box. */
  value: number | string | undefined
  onChange: (value: number | string | undefined) => void
}

export function NumberInput({ value, onChange, onBlur, ...props }: NumberInputProps) {
  /** What is being typed may be on its way to a number: `2.0` to `2.05`. */
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

/** The number that a text says; the text itself if it says none that comes back the same; undefined for an empty one. */
function toNumber(text: string): number | string | undefined {
  const trimmed = withoutGrouping(text.trim())
  if (trimmed === '') return undefined
  const number = Number(trimmed) || 0 // never -0
  return NUMBER.test(trimmed) && significantDigits(trimmed) === significantDigits(String(number)) ? number : text
}

/** Numbers are shown, and so copied, as `1,234,567.5`. A comma elsewhere may mean something else, and stays. */
function withoutGrouping(text: string): string {
  return /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(text) ? text.replaceAll(',', '') : text
}

/** The significant digits of a number with the power of ten that belongs to them: the same for `2.50`, `02.5` and `25e-1`. */
function significantDigits(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = NUMBER.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const exponent = Number(power) - fraction.length + digits.length - significant.length
  return `${sign === '-' ? '-' : ''}${significant}e${exponent}`
}

/** Texts of people whom operators do not know, with a mark where there are invisible characters: names of impostors contain them. */
import { textParts } from '@arcade/contract/text'
import type { ReactNode } from 'react'
import classes from './marked-text.module.css'

const isPlain = (text: string): boolean => /^[ -~]*$/.test(text)

/** A function and not a component: a list of fifty rows has several hundred texts. */
export function markedText(text: string): ReactNode {
  if (isPlain(text)) return text
  return textParts(text).map((part, index) =>
    part.isInvisible ? (
      <span key={index} className={classes['mark']} title={`Invisible: ${codesOf(part.text)}`}>
        {part.text}
      </span>
    ) : (
      part.text
    ),
  )
}

/** Returns a text with the codes of its invisible characters instead of them: `Pay[U+200B]Pal`. */
export function namedText(text: string): string {
  if (isPlain(text)) return text
  return textParts(text)
    .map((part) => (part.isInvisible ? `[${codesOf(part.text)}]` : part.text))
    .join('')
}

function codesOf(text: string): string {
  return Array.from(text, (character) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`).join(' ')
}

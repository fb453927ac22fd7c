/** Mentions in the text of a note: `@First Last`, as an operator types it or chooses it from the menu. */
import type { Colleague } from '@arcade/contract/notes/calls'
import { mentionOf } from '@arcade/contract/notes/fields'
import { searchedText } from '@arcade/contract/search'

/** A mention that is being typed: where its @ is, and what follows it. */
export interface TypedMention {
  start: number
  typed: string
}

/** Most characters behind an @ that may still become a name. */
const MAX_TYPED_LENGTH = 60
const typedMention = new RegExp(String.raw`(?:^|[\s(])@([^@\n]{0,${MAX_TYPED_LENGTH}})$`, 'u')

/** Returns the mention that ends at the caret; undefined if none does. */
export function mentionAt(text: string, caret: number): TypedMention | undefined {
  const typed = typedMention.exec(text.slice(0, caret))?.[1]
  return typed === undefined ? undefined : { start: caret - typed.length - 1, typed }
}

/** Most colleagues that the menu shows. */
const MAX_OFFERED = 6

/** Returns the colleagues whose name has a word that begins with what was typed. */
export function offered(people: readonly Colleague[], { typed }: TypedMention): Colleague[] {
  const wanted = searchedText(typed)
  const matches = people.filter(({ name }) => ` ${searchedText(name)}`.includes(` ${wanted}`))
  // Behind a whole name the sentence goes on.
  if (typed.endsWith(' ') && matches.some(({ name }) => searchedText(name) === wanted)) return []
  return matches.slice(0, MAX_OFFERED)
}

interface Part {
  text: string
  mention?: Colleague
}

/** Splits a text at the mentions of these people; of two names the longer one counts, and a name does not end inside a word. */
export function partsOf(text: string, people: readonly Colleague[]): Part[] {
  const byLength = people.toSorted((a, b) => b.name.length - a.name.length)
  const parts: Part[] = []
  let from = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const mention = byLength.find(
      ({ name }) => text.startsWith(mentionOf(name), at) && endsWord(text, at + mentionOf(name).length),
    )
    if (!mention) continue
    const end = at + mentionOf(mention.name).length
    if (at > from) parts.push({ text: text.slice(from, at) })
    parts.push({ text: text.slice(at, end), mention })
    from = end
  }
  return from < text.length ? [...parts, { text: text.slice(from) }] : parts
}

function endsWord(text: string, end: number): boolean {
  return !/^[\p{L}\p{N}]/u.test(text.slice(end))
}

/** Returns the ids of the people whom a text mentions. If several people have one name: those who were chosen from the menu, or else all of them. */
export function mentionedIn(text: string, people: readonly Colleague[], chosen: ReadonlySet<string>): string[] {
  const names = new Set(partsOf(text, people).flatMap(({ mention }) => mention?.name ?? []))
  return [...names].flatMap((name) => {
    const all = people.filter((one) => one.name === name).map(({ id }) => id)
    const some = all.filter((id) => chosen.has(id))
    return some.length > 0 ? some : all
  })
}

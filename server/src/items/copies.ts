/** The titles of copies of tasks and announcements. */
import { firstCharacters } from '@arcade/contract/text'

const SUFFIX = ' (copy)'

/** Returns the title of a copy, of at most `maxLength` characters. */
export function titleOfCopy(title: string, maxLength: number): string {
  return firstCharacters(title, maxLength - SUFFIX.length) + SUFFIX
}

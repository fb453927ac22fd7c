/** The search parameters of addresses as text: those of pages, and those that saved views keep. */
import { addressParameters } from '@arcade/contract/address-filters'

/** Reads the parameters of an address as texts: a search for `1e5` or `true` is neither a number nor a flag. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const parameters = Object.entries(addressParameters(new URLSearchParams(search)))
  return Object.fromEntries(parameters.map(([name, value]) => [name, typeof value === 'string' ? unquoted(value) : value]))
}

/** Earlier versions wrote a text that looks like a number as JSON: `q=%2242%22`. Links of that time still work. */
function unquoted(value: string): string {
  if (!/^".+"$/.test(value)) return value
  try {
    const text: unknown = JSON.parse(value)
    JSON.parse(String(text))
    return String(text)
  } catch {
    return value
  }
}

/** Writes the parameters of an address, without those that are undefined. */
export function stringifySearch(search: Record<string, unknown>): string {
  const texts = Object.entries(search as Record<string, string | number | boolean | undefined>).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const text = new URLSearchParams(texts).toString()
  return text === '' ? '' : `?${text}`
}

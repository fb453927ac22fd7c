import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { markedText, namedText } from './marked-text.tsx'

test('an invisible character has a mark that tells its code, and the text stays as it is', async () => {
  render(<p>{markedText('Pa\u200byP1al\u202ekcab')}</p>)
  await expect.element(page.getByTitle('Invisible: U+200B')).toBeVisible()
  expect(document.querySelector('p')!.textContent).toBe('Pa\u200byP1al\u202ekcab')
  expect(namedText('Pa\u200byP1al\u202ekcab')).toBe('Pa[U+200B]yP1al[U+202E]kcab')
})

test('characters after a directional control are not turned around', () => {
  render(<p>{markedText('\u202e12')}</p>)
  const digits = document.querySelector('p')!.lastChild!
  const at = (index: number): number => {
    const range = document.createRange()
    range.setStart(digits, index)
    range.setEnd(digits, index + 1)
    return range.getBoundingClientRect().left
  }
  expect(at(0)).toBeLessThan(at(1))
})

test('a name without invisible characters has no mark', () => {
  render(<p>{markedText('👩\u200d🚀 Zoë')}</p>)
  expect(document.querySelectorAll('p span')).toHaveLength(0)
  expect(namedText('👩\u200d🚀 Zoë')).toBe('👩\u200d🚀 Zoë')
})

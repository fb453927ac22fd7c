/** docs/look.md: style sheets name the tokens of tokens.css instead of values of their own. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './children.ts'

/** The tokens themselves, and the preview, which has the colours and shapes of Telegram. */
const FREE = /\/(tokens|bot-preview\.module)\.css$/

/** Properties with tokens, and the values that need none: those of the parent or relative to it, none, a circle. */
const DECLARATION = /(?<property>font-size|font-weight|border-radius|box-shadow): (?<value>[^;]+);/g
const NEEDS_NO_TOKEN = /^(inherit|none|0|50%|[\d.]+em|max\(1rem, 16px\)|min\([^)]*1em\))$/
const LENGTH = /(?<![\w-])[\d.]+(rem|px)\b/
/** Within a shadow, the lengths of an outline are no token: it is drawn at the edge of its element. */
const OUTLINE = /^(inset )?(0 |-1px |3px |1px ){1,4}/
const COLOUR = /#[\da-f]{3,8}\b|\brgba?\(/gi

function problemsOf(css: string): string[] {
  const sheet = css.replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const lengths = [...sheet.matchAll(DECLARATION)]
    .map(({ groups }) => ({ property: groups!['property']!, value: groups!['value']! }))
    .filter(({ value }) => !NEEDS_NO_TOKEN.test(value))
    .filter(({ property, value }) =>
      property === 'font-weight'
        ? !value.startsWith('var(--')
        : LENGTH.test(property === 'box-shadow' ? value.replace(OUTLINE, '') : value),
    )
    .map(({ property, value }) => `${property}: ${value}`)
  return [...lengths, ...[...sheet.matchAll(COLOUR)].map(([colour]) => colour)]
}

test('style sheets name tokens for type, radius, shadow and colour', () => {
  const files = globSync('web/src/**/*.css', { cwd: root }).filter((file) => !FREE.test(file))
  expect(files.length).toBeGreaterThan(30)
  const problems = files.flatMap((file) =>
    problemsOf(readFileSync(join(root, file), 'utf8')).map((problem) => `${file}: ${problem}`),
  )
  expect(problems).toEqual([])
})

test.each([
  ['a { font-size: 0.875rem; }', ['font-size: 0.875rem']],
  ['a { font-weight: 600; }', ['font-weight: 600']],
  ['a { border-radius: var(--radius-panel) 3px 0 0; }', ['border-radius: var(--radius-panel) 3px 0 0']],
  ['a { box-shadow: 0 1rem 2rem #000; }', ['box-shadow: 0 1rem 2rem #000', '#000']],
  ['a { color: rgb(1 2 3); }', ['rgb(']],
  ['a { /* #123 */ font-size: 0.9em; border-radius: 50%; box-shadow: inset 3px 0 0 var(--app-line); }', []],
])('%s has the problems %j', (css, problems) => {
  expect(problemsOf(css)).toEqual(problems)
})

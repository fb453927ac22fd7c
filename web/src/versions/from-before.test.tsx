/** What a move-in has kept: short values as they are, long ones folded up, empty ones said to be so. */
import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { KeptFields } from './from-before.tsx'

const long = 'sword, '.repeat(60)

test('design §8 From before has each field with its value; a long one is folded up and opens', async () => {
  const fields = [
    { name: 'level', value: '7' },
    { name: 'note', value: '' },
    { name: 'pet', value: '{\n  "name": "Rex"\n}' },
    { name: 'inventory', value: long },
  ]
  render(<KeptFields fields={fields} />)
  expect(
    page
      .getByRole('term')
      .elements()
      .map((term) => term.textContent),
  ).toEqual(fields.map(({ name }) => name))
  const values = page.getByRole('definition').elements()
  expect(values.slice(0, 3).map((value) => value.textContent)).toEqual(['7', 'empty', '{\n  "name": "Rex"\n}'])
  const whole = page.getByText(long, { exact: true })
  await expect.element(whole).not.toBeVisible()
  await page.getByText(`${long.slice(0, 80)}…`).click()
  await expect.element(whole).toBeVisible()
})

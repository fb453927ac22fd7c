import { expect, onTestFinished, test } from 'vitest'
import { page } from 'vitest/browser'
import { forceColors } from '#src/testing/forced-colors.ts'
import { render } from '#src/testing/render.tsx'
import { ChartPanel, Ranks } from './chart-panel.tsx'

test('each rank has a name, a note and a number, and a bar whose length is its share of the first', async () => {
  const ranks = [
    { key: '1', label: <a href="#ada">Ada</a>, note: '@ada', value: 1_234_567.5 },
    { key: '2', label: 'Bob', value: 617_283.75 },
    { key: '3', label: 'Eve', value: -5 },
  ]
  render(<Ranks label="Top balances" ranks={ranks} />)
  const items = page.getByRole('list', { name: 'Top balances' }).getByRole('listitem')
  await expect.element(items.nth(0)).toMatchTextContent(/^Ada@ada1,234,567\.5$/)
  await expect.element(items.nth(2)).toMatchTextContent(/^Eve-5$/)
  await expect.element(items.getByRole('link', { name: 'Ada' })).toBeVisible()
  const widths = items.elements().map((item) => item.querySelector('[aria-hidden] > span')?.getBoundingClientRect().width ?? 0)
  expect(widths[1]).toBeCloseTo((widths[0] ?? 0) / 2, 0)
  expect(widths[2]).toBe(0)
})

test('ranks have no bars if hasBars is false', async () => {
  render(<Ranks label="Top balances" hasBars={false} ranks={[{ key: '1', label: 'Ada', value: 5 }]} />)
  const item = page.getByRole('listitem')
  await expect.element(item).toHaveTextContent('Ada5')
  expect(item.element().querySelector('[aria-hidden]')).toBeNull()
})

test('in forced colours bars and the chosen link differ from their background', async () => {
  onTestFinished(() => forceColors('none'))
  await forceColors('active')
  render(
    <>
      <Ranks label="Types" ranks={[{ key: '1', label: 'Twitter', value: 5 }]} />
      <a href="#30d" aria-current="page">
        30 d
      </a>
      <a href="#7d">7 d</a>
    </>,
  )
  await expect.element(page.getByRole('list', { name: 'Types' })).toBeVisible()
  const { backgroundColor, forcedColorAdjust } = getComputedStyle(
    document.querySelector('[aria-hidden] > span[style^="width"]')!,
  ) as CSSStyleDeclaration & { forcedColorAdjust: string }
  expect(forcedColorAdjust).toBe('none')
  expect(backgroundColor).not.toBe(getComputedStyle(document.body).backgroundColor)
  const outline = (name: string) => getComputedStyle(page.getByRole('link', { name, exact: true }).element()).outlineStyle
  expect(outline('30 d')).toBe('solid')
  expect(outline('7 d')).toBe('none')
})

const figures = {
  title: 'New players',
  columns: ['Day', 'Players'],
  rows: [{ key: '1', cells: ['March 1', 1_234] }],
}

test('a panel is named by its title and shows the same figures as a table on demand', async () => {
  render(
    <ChartPanel {...figures} aside={<a href="#all">All</a>}>
      <p>The chart</p>
    </ChartPanel>,
  )
  const panel = page.getByRole('region', { name: 'New players', exact: true })
  await expect.element(panel.getByText('The chart')).toBeVisible()
  await expect.element(panel.getByRole('link', { name: 'All' })).toBeVisible()
  await page.getByRole('button', { name: /^Show as table ?: New players$/ }).click()
  await expect.element(panel.getByText('The chart')).not.toBeInTheDocument()
  const table = panel.getByRole('table', { name: 'New players' })
  await expect.element(table.getByRole('columnheader', { name: 'Players' })).toBeVisible()
  await expect.element(table.getByRole('cell', { name: '1,234' })).toBeVisible()
  await page.getByRole('button', { name: /^Show as chart ?: New players$/ }).click()
  await expect.element(panel.getByText('The chart')).toBeVisible()
})

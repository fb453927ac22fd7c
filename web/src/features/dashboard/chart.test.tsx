import { expect, onTestFinished, test } from 'vitest'
import { cdp, page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { BarsOverTime, ChartPanel, Ranks } from './chart.tsx'

const days = (values: readonly number[]) =>
  values.map((value, index) => ({ key: `d${index}`, name: `March ${index + 1}, 2026`, tick: `Mar ${index + 1}`, value }))

function Bars({ values }: { values: readonly number[] }) {
  return (
    <div style={{ width: 600 }}>
      <BarsOverTime label="New players" points={days(values)} describe={(value) => `${value} new players`} />
    </div>
  )
}

const chart = page.getByRole('group', { name: 'New players' })
const bar = (day: number) => page.getByRole('button', { name: new RegExp(`^March ${day}, 2026:`) })
const tip = page.getByText(/^\d+ new players$/)
/** Returns the height of a bar as a share of its slot's height. */
const share = (day: number) => {
  const slot = bar(day).element()
  const filled = slot.querySelector('span')?.getBoundingClientRect().height ?? 0
  return Math.round((filled / slot.getBoundingClientRect().height) * 100) / 100
}
/** The numbers beside the bars, from the top. */
const scale = () => {
  const texts = document.body.innerText.split('\n').map((line) => line.trim())
  return texts.filter((line) => /^[\d.]+[KMB]?$/.test(line)).slice(0, 3)
}

test('the accessible name of each bar has its time and its value', async () => {
  render(<Bars values={[3, 0, 7]} />)
  await expect.element(chart).toBeVisible()
  const names = page.getByRole('button').elements()
  expect(names.map((element) => element.getAttribute('aria-label'))).toEqual([
    'March 1, 2026: 3 new players',
    'March 2, 2026: 0 new players',
    'March 3, 2026: 7 new players',
  ])
})

test.for([
  [
    [0, 0],
    ['2', '1', '0'],
  ],
  [[1], ['2', '1', '0']],
  [[3], ['4', '2', '0']],
  [
    [5, 2],
    ['5', '2.5', '0'],
  ],
  [[7], ['10', '5', '0']],
  [[11], ['20', '10', '0']],
  [[1_200], ['2K', '1K', '0']],
  [[12_345_678], ['20M', '10M', '0']],
] as const)('the scale for the values %j is %j', async ([values, expected]) => {
  render(<Bars values={values} />)
  await expect.poll(scale).toEqual(expected)
})

test('the heights of bars are in proportion to the scale', async () => {
  render(<Bars values={[10, 5, 0]} />)
  await expect.element(chart).toBeVisible()
  expect([share(1), share(2)]).toEqual([1, 0.5])
  expect(share(3)).toBeLessThan(0.05)
})

test('the Tab key stops once, at the newest bar; arrow keys, Home and End move between the bars and show their values', async () => {
  render(
    <>
      <Bars values={[1, 2, 3, 4]} />
      <button type="button">After</button>
    </>,
  )
  await expect.element(chart).toBeVisible()
  await userEvent.tab()
  await expect.element(bar(4)).toHaveFocus()
  await expect.element(tip).toHaveTextContent('4 new players')
  for (const [key, day] of [
    ['{ArrowLeft}', 3],
    ['{Home}', 1],
    ['{ArrowLeft}', 1],
    ['{ArrowRight}', 2],
    ['{End}', 4],
    ['{ArrowRight}', 4],
    ['{ArrowLeft}', 3],
  ] as const) {
    await userEvent.keyboard(key)
    await expect.element(bar(day)).toHaveFocus()
    await expect.element(tip).toHaveTextContent(`${day} new players`)
  }
  await userEvent.tab()
  await expect.element(page.getByRole('button', { name: 'After' })).toHaveFocus()
  await expect.element(tip).not.toBeInTheDocument()
  await userEvent.tab({ shift: true })
  await expect.element(bar(3)).toHaveFocus()
})

test('Escape hides the tip, and the bar keeps the focus', async () => {
  render(<Bars values={[1, 2]} />)
  await expect.element(chart).toBeVisible()
  await userEvent.tab()
  await userEvent.keyboard('{Escape}')
  await expect.element(tip).not.toBeInTheDocument()
  await expect.element(bar(2)).toHaveFocus()
})

test('a pointer over a bar shows it, and leaving the chart hides it', async () => {
  render(
    <>
      <Bars values={[1, 2]} />
      <p>Elsewhere</p>
    </>,
  )
  await bar(1).hover()
  await expect.element(tip).toHaveTextContent('1 new players')
  await bar(2).hover()
  await expect.element(tip).toHaveTextContent('2 new players')
  await page.getByText('Elsewhere').hover()
  await expect.element(tip).not.toBeInTheDocument()
})

test('the Tab key still reaches a bar when there are fewer points than before', async () => {
  const show = render(<Bars values={[1, 2, 3, 4, 5]} />)
  await bar(5).click()
  await userEvent.keyboard('{ArrowLeft}')
  show(<Bars values={[1, 2]} />)
  await expect.element(bar(5)).not.toBeInTheDocument()
  await userEvent.tab()
  await expect.element(bar(2)).toHaveFocus()
})

test('the axis has about six labels, always one for the newest point', async () => {
  render(<Bars values={Array.from({ length: 30 }, () => 1)} />)
  await expect.element(page.getByText('Mar 30', { exact: true })).toBeVisible()
  const ticks = page.getByText(/^Mar \d+$/).elements()
  expect(ticks.map(({ textContent }) => textContent)).toEqual(['Mar 5', 'Mar 10', 'Mar 15', 'Mar 20', 'Mar 25', 'Mar 30'])
})

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

/** Emulates forced colours, in which the user's colours replace those of the page (WCAG 1.4.11). */
async function forceColors(value: 'active' | 'none'): Promise<void> {
  await cdp().send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] })
}

test('in forced colours bars and the chosen link differ from their background', async () => {
  onTestFinished(() => forceColors('none'))
  await forceColors('active')
  render(
    <>
      <Bars values={[3, 5]} />
      <Ranks label="Types" ranks={[{ key: '1', label: 'Twitter', value: 5 }]} />
      <a href="#30d" aria-current="page">
        30 d
      </a>
      <a href="#7d">7 d</a>
    </>,
  )
  await expect.element(chart).toBeVisible()
  const behind = getComputedStyle(document.body).backgroundColor
  const filled = [bar(2).element().querySelector('span'), document.querySelector('[aria-hidden] > span[style^="width"]')]
  for (const element of filled) {
    const { backgroundColor, forcedColorAdjust } = getComputedStyle(element!) as CSSStyleDeclaration & {
      forcedColorAdjust: string
    }
    expect(forcedColorAdjust).toBe('none')
    expect(backgroundColor).not.toBe(behind)
  }
  const outline = (name: string) => getComputedStyle(page.getByRole('link', { name, exact: true }).element()).outlineStyle
  expect(outline('30 d')).toBe('solid')
  expect(outline('7 d')).toBe('none')
})

const figures = {
  title: 'New players',
  emptyText: 'Nobody yet.',
  columns: ['Day', 'Players'],
  rows: [{ key: '1', cells: ['March 1', 1_234] }],
}

test('a panel is named by its title and shows the same figures as a table on demand', async () => {
  render(
    <ChartPanel {...figures} isEmpty={false} aside={<a href="#all">All</a>}>
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

test('an empty panel says that it is empty, and offers no table', async () => {
  render(
    <ChartPanel {...figures} isEmpty emptyHint={<p>The last one: March 3</p>}>
      <p>The chart</p>
    </ChartPanel>,
  )
  await expect.element(page.getByText('Nobody yet.')).toBeVisible()
  await expect.element(page.getByText('The last one: March 3')).toBeVisible()
  await expect.element(page.getByText('The chart')).not.toBeInTheDocument()
  await expect.element(page.getByRole('button')).not.toBeInTheDocument()
})

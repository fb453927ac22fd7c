import { useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { DataTable } from './data-table.tsx'
import type { Column } from './table-cells.tsx'
import { forgetSelections, useSelection } from './selection.tsx'

interface Game {
  id: string
  title: string
  status: string
  players: number
  link: string
}

const games = Array.from({ length: 12 }, (_, n): Game => {
  const id = `${n + 1}`
  return { id, title: `Game ${id}`, status: 'Active', players: 100 * n, link: `https://example.org/games/of/the/arcade/${id}` }
})

const columns: readonly Column<Game>[] = [
  { header: 'Players', value: ({ players }) => players, align: 'end', sort: 'players' },
  { header: 'Title', value: ({ title }) => title, viewMore: true, sort: 'title', card: 'title' },
  { header: 'Link', value: ({ link }) => link, card: 'wide' },
  { header: 'Note', value: () => null, missing: 'not available', card: 'fold' },
  { header: 'Status', render: ({ status }) => <button type="button">{status}</button>, card: 'start' },
  { header: 'Delete', render: ({ title }) => <button type="button">Delete {title}</button>, card: 'end' },
]

function Games({ rows = games, total = rows.length }: { rows?: Game[]; total?: number }) {
  const [sort, setSort] = useState({ sort: 'players', isReversed: false })
  const selection = useSelection('games', {})
  const sorted = sort.sort === 'title' ? rows.toReversed() : rows
  return (
    <DataTable
      label="Games"
      columns={columns}
      rows={sorted}
      rowKey={({ id }) => id}
      emptyText="No games."
      sorting={{ ...sort, onSort: (next, isReversed) => setSort({ sort: next, isReversed }) }}
      toolbar={{ searchLabel: 'Search games', search: '', onSearch: () => {} }}
      picking={{ selection, total, actions: <button type="button">Delete Selected</button> }}
    />
  )
}

afterEach(forgetSelections)

const box = (element: Element) => element.getBoundingClientRect()
const row = (title: string) => page.getByRole('row').filter({ hasText: title })
const cell = (title: string, column: string) => row(title).element().querySelector(`[data-column='${column}']`)!

/** Presses Select, which a phone has in a sheet. */
async function openSelection() {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument()
}

describe('on a phone', () => {
  beforeEach(() => page.viewport(390, 844))
  afterEach(() => page.viewport(1440, 900))

  test('design §7 a row is a card: title, state and buttons, then the details, each below its column’s name', () => {
    render(<Games />)
    const [title, status, remove] = ['Title', 'Status', 'Delete'].map((column) => box(cell('Game 3', column)))
    const details = ['Players', 'Link'].map((column) => box(cell('Game 3', column)))
    const card = box(row('Game 3').element())
    expect(card.right).toBeLessThanOrEqual(390)
    expect(title!.bottom).toBeLessThanOrEqual(status!.top)
    expect(Math.abs(middle(status!) - middle(remove!))).toBeLessThan(16)
    for (const detail of details) {
      expect(detail.top).toBeGreaterThan(remove!.bottom)
      expect(detail.left).toBeGreaterThanOrEqual(card.left)
      expect(detail.right).toBeLessThanOrEqual(card.right)
    }
    expect(getComputedStyle(cell('Game 3', 'Players'), '::before').content).toContain('Players')
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390)
  })

  test('design §7 assistive technology still sees the cards as a table with headers', async () => {
    render(<Games />)
    await expect.element(page.getByRole('table', { name: 'Games' })).toBeVisible()
    expect(page.getByRole('rowgroup').elements()).toHaveLength(2)
    expect(page.getByRole('row').elements()).toHaveLength(1 + 12)
    const headers = page.getByRole('columnheader').elements()
    expect(headers.map(({ textContent }) => textContent)).toEqual(['Players', 'Title', 'Link', 'Note', 'Status', 'Delete'])
    await page.getByRole('button', { name: 'All fields of row 3' }).click()
    const cells = row('Game 3').getByRole('cell').elements()
    expect(cells.map((one) => one.getAttribute('data-column'))).toEqual(columns.map(({ header }) => header))
    for (const element of document.querySelectorAll('table, thead, tbody, tr, th, td')) expect(element.role).not.toBe(null)
  })

  test('design §7 the headers of cards say the order but are no buttons: nobody could see their focus', () => {
    render(<Games />)
    expect(page.getByRole('columnheader', { name: 'Players' }).element()).toHaveAttribute('aria-sort', 'ascending')
    expect(page.getByRole('columnheader').getByRole('button').elements()).toEqual([])
  })

  test('design §7 a card shows what is folded once its button is pressed, and folds again', async () => {
    render(<Games />)
    const button = page.getByRole('button', { name: 'All fields of row 3' })
    expect(box(cell('Game 3', 'Note')).height).toBe(0)
    await button.click()
    await expect.element(button).toHaveAttribute('aria-expanded', 'true')
    expect(box(cell('Game 3', 'Note')).height).toBeGreaterThan(0)
    expect(box(cell('Game 4', 'Note')).height).toBe(0)
    await button.click()
    expect(box(cell('Game 3', 'Note')).height).toBe(0)
  })

  test('design §7 while rows are picked, a tap anywhere on a card picks it and opens nothing', async () => {
    render(<Games />)
    await openSelection()
    const card = row('Game 3')
    await page.getByRole('button', { name: 'Game 3', exact: true }).click()
    await expect.element(page.getByRole('checkbox', { name: 'Select row 3' })).toBeChecked()
    await card.click({ position: { x: 200, y: 60 } })
    await expect.element(page.getByRole('checkbox', { name: 'Select row 3' })).not.toBeChecked()
    expect(page.getByRole('dialog').elements()).toEqual([])
  })

  test('design §7 while rows are picked each card has a checkbox, and the selection bar stays in view', async () => {
    render(<Games />)
    await openSelection()
    const pick = page.getByRole('checkbox', { name: 'Select row 3' })
    await pick.click()
    const [picked, title] = [box(pick.element()), box(cell('Game 3', 'Title'))]
    expect(picked.right).toBeLessThanOrEqual(title.left)
    expect(picked.width).toBeGreaterThanOrEqual(24)
    expect(Math.abs(middle(picked) - middle(title))).toBeLessThan(16)
    await expect.element(page.getByRole('button', { name: 'Delete Selected' })).toBeInViewport({ ratio: 1 })
    window.scrollTo(0, 400)
    await expect.element(page.getByRole('button', { name: 'Delete Selected' })).toBeInViewport({ ratio: 1 })
    await expect.element(page.getByRole('checkbox', { name: 'Select all rows of this page' })).toBeVisible()
  })

  test('design §7 the text of an empty list is centred', () => {
    render(<Games rows={[]} />)
    const text = box(page.getByText('No games.').element())
    expect(text.left + text.width / 2).toBeCloseTo(195, 0)
  })
})

test('design §7 All shows every column, None only the title column', async () => {
  render(<Games />)
  const headers = () =>
    page
      .getByRole('columnheader')
      .elements()
      .map(({ textContent }) => textContent)
  const all = headers()
  await page.getByRole('button', { name: 'View' }).click()
  await page.getByRole('button', { name: 'None', exact: true }).click()
  await expect.poll(headers).toEqual(['Title'])
  await page.getByRole('checkbox', { name: 'Players' }).click()
  await expect.poll(headers).toEqual(['Players', 'Title'])
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await expect.poll(headers).toEqual(all)
})

const many = Array.from({ length: 60 }, (_, n) => `${n + 1}`)

/** A list that goes from page to page, and whose rows can be reloaded. */
function Pages() {
  const [values, setValues] = useState({ page: 1 })
  const [loads, setLoads] = useState(0)
  const rows = useMemo(() => many.map((id) => ({ id: `${values.page}-${id}`, loads })), [values, loads])
  return (
    <>
      <button type="button" onClick={() => setLoads(loads + 1)}>
        Reload
      </button>
      <button type="button" onClick={() => setValues({ page: values.page + 1 })}>
        Another page
      </button>
      <DataTable
        label="Ids"
        columns={ids}
        rows={rows}
        rowKey={idOf}
        emptyText="No ids."
        toolbar={{ searchLabel: 'Search ids', search: '', onSearch: () => {}, values }}
      />
    </>
  )
}

const ids: readonly Column<{ id: string; loads: number }>[] = [{ header: 'Id', value: ({ id, loads }) => `${id}, ${loads}` }]
const idOf = ({ id }: { id: string }) => id

test('another page begins at its first row, draws the rows on the screen first and then all; a reload keeps rows and place', async () => {
  const drawn: number[] = []
  const shown = () => [...document.querySelectorAll('tbody tr:not([aria-hidden])')]
  const scroller = () => page.getByRole('region', { name: 'Ids' }).element()
  render(<Pages />)
  await expect.poll(() => shown().length).toBe(60)
  scroller().scrollTo(0, 500)
  const before = shown()
  await page.getByRole('button', { name: 'Reload' }).click()
  await expect.element(page.getByText('1-60, 1')).toBeInTheDocument()
  expect(shown(), 'the rows of a reload are the same elements').toEqual(before)
  expect(scroller().scrollTop).toBe(500)

  const observer = new MutationObserver(() => drawn.push(shown().length))
  observer.observe(scroller(), { childList: true, subtree: true })
  onTestFinished(() => observer.disconnect())
  await page.getByRole('button', { name: 'Another page' }).click()
  await expect.poll(() => shown().length).toBe(60)
  await expect.element(page.getByText('2-60, 1')).toBeInTheDocument()
  expect(drawn[0], 'first those on the screen').toBeLessThan(20)
  expect(scroller().scrollTop).toBe(0)
})

test('all rows of a page are drawn, also if it begins while only those on the screen of the page before are', async () => {
  render(<Pages />)
  await expect.element(page.getByText('1-60, 0')).toBeInTheDocument()
  const another = page.getByRole('button', { name: 'Another page' }).element() as HTMLElement
  for (const _ of [2, 3]) flushSync(() => another.click())
  await expect.element(page.getByText('3-60, 0')).toBeInTheDocument()
})

test('design §7 Clear keeps the focus in the selection bar', async () => {
  render(<Games />)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 3' }).click()
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.element(page.getByRole('region', { name: 'Selection' })).toHaveFocus()
  await userEvent.tab()
  await expect.element(page.getByRole('button', { name: 'Select all 12 matching' })).toHaveFocus()
})

describe('design §7 after Select all matching', () => {
  const pick = (number: number) => page.getByRole('checkbox', { name: `Select row ${number}`, exact: true })
  const pickPage = page.getByRole('checkbox', { name: 'Select all rows of this page' })
  const count = page.getByRole('region', { name: 'Selection' }).getByRole('status')

  beforeEach(async () => {
    render(<Games rows={games.slice(0, 6)} total={12} />)
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByRole('button', { name: 'Select all 12 matching' }).click()
  })

  test('unticking a row leaves the other rows of the page selected', async () => {
    await pick(3).click()
    await expect.element(count).toMatchTextContent(/^5 selected$/)
    await expect.element(pick(3)).not.toBeChecked()
    await expect.element(pick(4)).toBeChecked()
    await pick(4).click()
    await expect.element(count).toMatchTextContent(/^4 selected$/)
  })

  test('unticking a range leaves the rows of the page outside it selected', async () => {
    await page.getByRole('button', { name: 'Clear' }).click()
    await pick(2).click()
    await page.getByRole('button', { name: 'Select all 12 matching' }).click()
    await pick(4).click({ modifiers: ['Shift'] })
    await expect.element(count).toMatchTextContent(/^3 selected$/)
    for (const number of [2, 3, 4]) await expect.element(pick(number)).not.toBeChecked()
    for (const number of [1, 5, 6]) await expect.element(pick(number)).toBeChecked()
  })

  test('unticking the whole page clears the selection', async () => {
    await pickPage.click()
    await expect.element(count).toMatchTextContent(/^Nothing selected$/)
    await expect.element(pick(1)).not.toBeChecked()
  })
})

function middle({ top, bottom }: DOMRect): number {
  return (top + bottom) / 2
}

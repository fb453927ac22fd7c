import { useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { cdp, page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { focusHandle, MoveHandle, Reorder } from './reorder.tsx'

interface SampleProps {
  titles?: readonly string[]
  onMove?: (from: number, to: number) => void
  height?: number
}

const LETTERS = ['A', 'B', 'C', 'D']

function Sample({ titles = LETTERS, onMove = () => {}, height }: SampleProps) {
  const [order, setOrder] = useState(titles)
  const [lastTitles, setLastTitles] = useState(titles)
  if (lastTitles !== titles) {
    setLastTitles(titles)
    setOrder(titles)
  }
  const handleMove = (from: number, to: number) => {
    onMove(from, to)
    setOrder(order.toSpliced(from, 1).toSpliced(to, 0, order[from] ?? ''))
  }
  return (
    <Reorder rows={order} idOf={(title) => title} titleOf={(title) => title} onMove={handleMove}>
      <div style={{ height, overflowY: 'auto' }} data-testid="scroller">
        <table style={{ borderCollapse: 'collapse' }}>
          <tbody>
            {order.map((title) => (
              <tr key={title} style={{ height: 40 }}>
                <td>
                  <MoveHandle id={title} title={title} />
                </td>
                <td className="title">{title}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <button type="button" onClick={() => focusHandle('C')}>
        Go to C
      </button>
    </Reorder>
  )
}

const handleOf = (title: string) => page.getByRole('button', { name: `Move ${title}`, exact: true })
const order = () => [...document.querySelectorAll('.title')].map(({ textContent }) => textContent).join('')
const scroller = () => page.getByTestId('scroller').element()
const topOf = (title: string) => handleOf(title).element().closest('tr')?.getBoundingClientRect().top ?? 0
const centreOf = (title: string) => {
  const { x, y, width, height } = handleOf(title).element().getBoundingClientRect()
  return { x: x + width / 2, y: y + height / 2 }
}
const onMove = vi.fn<(from: number, to: number) => void>()

beforeEach(() => onMove.mockReset())

async function expectLiveText(text: string): Promise<void> {
  await expect.element(page.getByText(text, { exact: false })).toBeInTheDocument()
}

async function pickUp(title: string): Promise<void> {
  await handleOf(title).click()
  await userEvent.keyboard(' ')
  await expectLiveText(`${title} picked up`)
}

test('§2 by keyboard a row is picked up, moved and dropped: each step is announced, onMove is called once, the focus stays', async () => {
  render(<Sample onMove={onMove} />)
  await expect.element(handleOf('A')).toHaveAccessibleDescription(/Press Space to pick up/)
  await pickUp('A')
  await expectLiveText('A picked up, position 1 of 4. Move it with the arrow keys.')
  await userEvent.keyboard('{ArrowDown}{ArrowDown}')
  await expectLiveText('A moved to position 3 of 4.')
  expect(order()).toBe('ABCD')
  expect(onMove).not.toHaveBeenCalled()
  await userEvent.keyboard('{Enter}')
  await expectLiveText('A dropped at position 3 of 4.')
  await expect.poll(order).toBe('BCAD')
  expect(onMove.mock.calls).toEqual([[0, 2]])
  await expect.element(handleOf('A')).toHaveFocus()
})

test.for([
  ['C', '{ArrowUp}', 'ACBD', [2, 1]],
  ['C', '{Home}', 'CABD', [2, 0]],
  ['B', '{End}', 'ACDB', [1, 3]],
  ['B', '{ArrowUp}{ArrowUp}{ArrowUp}', 'BACD', [1, 0]],
  ['C', '{End}{ArrowDown}', 'ABDC', [2, 3]],
] as const)('§2 moving %s by %s gives the order %s', async ([title, keys, expected, move]) => {
  render(<Sample onMove={onMove} />)
  await pickUp(title)
  await userEvent.keyboard(`${keys} `)
  await expect.poll(order).toBe(expected)
  expect(onMove.mock.calls).toEqual([move])
})

test('§2 while a row is lifted, the other rows show where it would land', async () => {
  render(<Sample />)
  await expect.element(handleOf('A')).toBeVisible()
  const before = LETTERS.map(topOf)
  await pickUp('A')
  await userEvent.keyboard('{ArrowDown}')
  await expectLiveText('A moved to position 2 of 4.')
  await expect.poll(() => LETTERS.map(topOf)).toEqual([before[1], before[0], before[2], before[3]])
})

test.for(['{Escape}', '{Tab}', 'a click elsewhere'])('§2 %s puts the row back', async (leave) => {
  render(<Sample onMove={onMove} />)
  await expect.element(handleOf('A')).toBeVisible()
  const before = LETTERS.map(topOf)
  await pickUp('A')
  await userEvent.keyboard('{ArrowDown}')
  if (leave.startsWith('{')) await userEvent.keyboard(leave)
  else await page.getByText('D', { exact: true }).click()
  await expectLiveText('A is back at position 1.')
  expect(onMove).not.toHaveBeenCalled()
  expect(LETTERS.map(topOf)).toEqual(before)
})

test('§2 dropping a row where it was is not a move', async () => {
  render(<Sample onMove={onMove} />)
  await pickUp('B')
  await userEvent.keyboard('{ArrowDown}{ArrowUp}{Enter}')
  await expectLiveText('B is back at position 2.')
  expect(onMove).not.toHaveBeenCalled()
})

test('§2 the only row of a table cannot be picked up', async () => {
  render(<Sample titles={['A']} onMove={onMove} />)
  await handleOf('A').click()
  await userEvent.keyboard(' {ArrowDown}{Enter}')
  await expect.element(page.getByText(/picked up|dropped|back at/)).not.toBeInTheDocument()
  expect(onMove).not.toHaveBeenCalled()
})

test('§2 holding Space picks a row up once and does not drop it', async () => {
  render(<Sample onMove={onMove} />)
  await handleOf('B').click()
  await userEvent.keyboard('[Space>3]')
  await expectLiveText('B picked up')
  await expect.element(handleOf('B')).toHaveAttribute('data-lifted', 'true')
})

test('§2 a list that changes while a row is lifted puts the row back', async () => {
  const show = render(<Sample titles={LETTERS} onMove={onMove} />)
  await pickUp('A')
  await userEvent.keyboard('{ArrowDown}')
  show(<Sample titles={['A', 'D', 'B', 'C']} onMove={onMove} />)
  await expectLiveText('A is back at position 1.')
  await expect.poll(order).toBe('ADBC')
  await userEvent.keyboard('{Enter}')
  expect(onMove).not.toHaveBeenCalled()
})

test('§2 by mouse a row changes places once it passes the middle of the next row, and the focus stays', async () => {
  render(<Sample onMove={onMove} />)
  await expect.element(handleOf('D')).toBeVisible()
  const from = centreOf('D')
  await userEvent.pointer([
    { coords: from, keys: '[MouseLeft>]' },
    { coords: { x: from.x, y: from.y - 50 } },
    { coords: { x: from.x, y: from.y - 80 } },
    { keys: '[/MouseLeft]' },
  ])
  await expect.poll(order).toBe('ADBC')
  expect(onMove.mock.calls).toEqual([[3, 1]])
  await expect.element(handleOf('D')).toHaveFocus()
})

test('§2 by mouse a drag of less than half a row is not a move, and Escape cancels a drag', async () => {
  render(<Sample onMove={onMove} />)
  await expect.element(handleOf('A')).toBeVisible()
  const from = centreOf('A')
  const near = { x: from.x, y: from.y + 15 }
  await userEvent.pointer([{ coords: from, keys: '[MouseLeft>]' }, { coords: near }, { keys: '[/MouseLeft]' }])
  await expectLiveText('A is back at position 1.')
  await userEvent.pointer([{ coords: from, keys: '[MouseLeft>]' }, { coords: { x: from.x, y: from.y + 90 } }])
  await expectLiveText('A moved to position 3 of 4.')
  await userEvent.keyboard('{Escape}')
  await expectLiveText('A is back at position 1.')
  await userEvent.pointer('[/MouseLeft]')
  expect(onMove).not.toHaveBeenCalled()
  expect(order()).toBe('ABCD')
})

test('§2 only the left mouse button drags a row', async () => {
  render(<Sample onMove={onMove} />)
  await expect.element(handleOf('A')).toBeVisible()
  const from = centreOf('A')
  await userEvent.pointer([{ coords: from, keys: '[MouseRight>]' }, { coords: { x: from.x, y: from.y + 90 } }])
  await expect.element(handleOf('A')).not.toHaveAttribute('data-lifted')
  await userEvent.pointer('[/MouseRight]')
  expect(onMove).not.toHaveBeenCalled()
})

test('§2 by finger a row is dragged', async () => {
  render(<Sample onMove={onMove} />)
  await expect.element(handleOf('A')).toBeVisible()
  const from = centreOf('A')
  // Touch coordinates are those of the browser window, in which the test frame may be moved and scaled.
  const frame = window.frameElement?.getBoundingClientRect() ?? { left: 0, top: 0, width: innerWidth }
  const scale = frame.width / innerWidth
  const touch = (kind: 'touchStart' | 'touchMove' | 'touchEnd', y?: number) =>
    cdp().send('Input.dispatchTouchEvent', {
      type: kind,
      touchPoints: y === undefined ? [] : [{ x: frame.left + from.x * scale, y: frame.top + y * scale }],
    })
  await touch('touchStart', from.y)
  for (const step of [20, 40, 60, 80]) await touch('touchMove', from.y + step)
  await expectLiveText('A moved to position 3 of 4.')
  await touch('touchEnd')
  await expect.poll(order).toBe('BCAD')
  expect(onMove.mock.calls).toEqual([[0, 2]])
})

test('§2 a list longer than its container scrolls while a row is dragged to its edge', async () => {
  const many = Array.from({ length: 40 }, (_, n) => `Row ${n + 1}`)
  render(<Sample titles={many} onMove={onMove} height={400} />)
  await expect.element(handleOf('Row 1')).toBeVisible()
  const from = centreOf('Row 1')
  const bottom = scroller().getBoundingClientRect().bottom - 10
  await userEvent.pointer([{ coords: from, keys: '[MouseLeft>]' }, { coords: { x: from.x, y: bottom } }])
  await expect.poll(() => scroller().scrollTop).toBeGreaterThan(400)
  await userEvent.pointer('[/MouseLeft]')
  await expect.poll(() => onMove.mock.calls[0]?.[1]).toBeGreaterThan(10)
})

test('§2 by keyboard the lifted row stays in view', async () => {
  const many = Array.from({ length: 40 }, (_, n) => `Row ${n + 1}`)
  render(<Sample titles={many} height={400} />)
  await pickUp('Row 1')
  await userEvent.keyboard('{End}')
  await expectLiveText('Row 1 moved to position 40 of 40.')
  await expect.poll(() => scroller().scrollTop).toBeGreaterThan(1000)
})

test('§2 focus() puts the focus on the handle of a row', async () => {
  render(<Sample />)
  await page.getByRole('button', { name: 'Go to C' }).click()
  await expect.element(handleOf('C')).toHaveFocus()
})

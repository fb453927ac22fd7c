import { useMemo, useState } from 'react'
import { expect, onTestFinished, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { forceColors } from '#src/testing/forced-colors.ts'
import { render } from '#src/testing/render.tsx'
import { TimeChart } from './time-chart.tsx'

const NONE: readonly number[] = []

/** Two charts of the same days, and the point at their crosshair. */
function Charts({ values, before = NONE }: { values: readonly number[]; before?: readonly number[] }) {
  const [at, setAt] = useState<number>()
  const points = useMemo(
    () =>
      values.map((value, index) => ({
        name: `March ${index + 1}, 2026`,
        tick: `Mar ${index + 1}`,
        value,
        before: before[index],
      })),
    [values, before],
  )
  const describe = ({ name, value }: { name: string; value: number }) => `${name}: ${value}`
  return (
    <div style={{ width: 600 }}>
      <TimeChart label="New players" points={points} describe={describe} at={at} onMove={setAt} />
      <TimeChart label="Participations" points={points} describe={describe} at={at} onMove={setAt} />
      <p>At: {at ?? 'nothing'}</p>
      <button type="button">After</button>
    </div>
  )
}

const slider = (name: string) => page.getByRole('slider', { name })
const at = async (text: string | number) => {
  await expect.element(page.getByText(`At: ${text}`, { exact: true })).toBeVisible()
}
const canvases = () => [...document.querySelectorAll('canvas')]
const crosshairs = () =>
  [...document.querySelectorAll('.u-cursor-x')].map((line) => Math.round(line.getBoundingClientRect().left))
const plots = () => [...document.querySelectorAll('.u-over')].map((plot) => plot.getBoundingClientRect())

/** Returns the colours that a part of the canvas has, without those of smoothed edges: each covers at least 20 pixels. */
function colours(canvas: HTMLCanvasElement): Set<string> {
  const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
  const counts = new Map<string, number>()
  for (let pixel = 0; pixel < data.length; pixel += 4) {
    const colour = `rgba(${data.slice(pixel, pixel + 4).join(', ')})`
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  return new Set([...counts].filter(([, count]) => count >= 20).map(([colour]) => colour))
}

const VALUES = [3, 0, 7, 5]
const UNTIL_FOUR = [0, 0, 4]
const ONES = [1, 1, 1]

test('the Tab key stops once at each chart, at the newest point; arrow keys, Home and End move the crosshair of all charts', async () => {
  render(<Charts values={VALUES} />)
  await expect.poll(canvases).toHaveLength(2)
  await userEvent.tab()
  await expect.element(slider('New players')).toHaveFocus()
  await expect.element(slider('New players')).toHaveAttribute('aria-valuetext', 'March 4, 2026: 5')
  await at(3)
  for (const [key, point] of [
    ['{ArrowLeft}', 2],
    ['{Home}', 0],
    ['{ArrowLeft}', 0],
    ['{ArrowRight}', 1],
    ['{End}', 3],
  ] as const) {
    await userEvent.keyboard(key)
    await at(point)
    await expect.element(slider('Participations')).toHaveAttribute('aria-valuetext', `March ${point + 1}, 2026: ${VALUES[point]}`)
    const { left, width } = plots()[0]!
    const place = Math.round(left + (width * point) / 3)
    await expect.poll(() => crosshairs().every((line) => Math.abs(line - place) <= 1)).toBe(true)
  }
  await userEvent.keyboard('{Escape}')
  await at('nothing')
  await expect.element(slider('New players')).toHaveFocus()
  await userEvent.tab()
  await userEvent.tab()
  await expect.element(page.getByRole('button', { name: 'After' })).toHaveFocus()
  await at('nothing')
})

test('the pointer moves the crosshair to the nearest point, and leaving the chart hides it', async () => {
  render(<Charts values={VALUES} />)
  await expect.poll(canvases).toHaveLength(2)
  const { width, height } = plots()[1]!
  const over = page.elementLocator(document.querySelectorAll('.u-over')[1]!)
  await over.hover({ position: { x: width * 0.6, y: height / 2 } })
  await at(2)
  await over.hover({ position: { x: width * 0.4, y: height / 2 } })
  await at(1)
  await page.getByRole('button', { name: 'After' }).hover()
  await at('nothing')
})

test('the crosshair stays where it is when values change', async () => {
  const show = render(<Charts values={VALUES} />)
  await userEvent.tab()
  await userEvent.keyboard('{Home}')
  await at(0)
  show(<Charts values={UNTIL_FOUR} />)
  await expect.element(slider('New players')).toHaveAttribute('aria-valuetext', 'March 1, 2026: 0')
  await at(0)
  await expect.poll(() => crosshairs().every((line, chart) => Math.abs(line - plots()[chart]!.left) <= 1)).toBe(true)
})

test('the crosshair stays at the newest point when there are fewer points than before', async () => {
  const show = render(<Charts values={[1, 2, 3, 4, 5]} />)
  await userEvent.tab()
  await at(4)
  show(<Charts values={[1, 2]} />)
  await expect.element(slider('New players')).toHaveAttribute('aria-valuetext', 'March 2, 2026: 2')
  await userEvent.keyboard('{ArrowLeft}')
  await at(0)
})

test('the last label of the axis is within the chart', async () => {
  render(<Charts values={Array.from({ length: 30 }, () => 1)} />)
  await expect.poll(canvases).toHaveLength(2)
  const [canvas] = canvases()
  const place = canvas!.getBoundingClientRect()
  const [plot] = plots()
  const measure = document.createElement('canvas').getContext('2d')!
  measure.font = getComputedStyle(canvas!).font
  expect(plot!.right + measure.measureText('Mar 30').width / 2).toBeLessThanOrEqual(place.right)
  expect(place.right).toBeLessThanOrEqual(600 + place.left)
})

test('the time before is a line of its own, and is left out where there is none', async () => {
  const show = render(<Charts values={UNTIL_FOUR} />)
  await expect.poll(canvases).toHaveLength(2)
  const alone = colours(canvases()[0]!)
  show(<Charts values={UNTIL_FOUR} before={ONES} />)
  await expect.poll(() => colours(canvases()[0]!).size).toBeGreaterThan(alone.size)
})

test('in another scheme and in forced colours the chart is drawn in their colours', async () => {
  onTestFinished(() => forceColors('none'))
  await forceColors('active')
  render(<Charts values={VALUES} />)
  await expect.poll(canvases).toHaveLength(2)
  const probe = document.body.appendChild(document.createElement('i'))
  onTestFinished(() => probe.remove())
  probe.style.color = 'CanvasText'
  const [, red, green, blue] = /rgb\((\d+), (\d+), (\d+)\)/.exec(getComputedStyle(probe).color)!
  await expect.poll(() => colours(canvases()[0]!).has(`rgba(${red}, ${green}, ${blue}, 255)`)).toBe(true)
})

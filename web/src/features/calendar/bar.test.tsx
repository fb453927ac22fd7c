import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { Bar } from './bar.tsx'
import { type Dates, spanOf, type SpanKind } from './days.ts'

const WIDTH = 700

function item(changes: Partial<CalendarItem> = {}): CalendarItem {
  return {
    kind: 'social',
    id: 'a',
    title: 'Season 3',
    startsAt: '2026-11-24T18:00:00.000Z',
    endsAt: '2026-11-26T20:00:00.000Z',
    state: 'scheduled',
    status: null,
    version: 1,
    ...changes,
  }
}

let dropped: string[] = []
let opened = 0

beforeEach(() => {
  dropped = []
  opened = 0
})

/** A week from Sunday the 22nd, a hundred pixels a day. */
function Sample({ shown, span = 'week' }: { shown: CalendarItem; span?: SpanKind }) {
  const [told, setTold] = useState('')
  const handleDrop = ({ startsAt, endsAt }: Dates) =>
    dropped.push([startsAt, endsAt].map((at) => (at === null ? 'none' : new Date(at).toISOString().slice(5, 16))).join(' – '))
  return (
    <ul>
      <li style={{ position: 'relative', width: WIDTH, height: 60, listStyle: 'none' }}>
        <Bar
          item={shown}
          span={spanOf(span, '2026-11-27', 'UTC', 7)}
          trackRem={WIDTH / 16}
          instructions=""
          onOpen={() => (opened += 1)}
          onDrop={handleDrop}
          onTell={setTold}
        />
      </li>
      <li>
        <output>{told}</output>
      </li>
    </ul>
  )
}

const bar = page.getByRole('button', { name: /^Season 3: / })

/** Presses the pointer at a point of the bar, moves it and releases it. */
async function drag(from: { x: number }, by: number, { isReleased = true } = {}): Promise<HTMLElement> {
  const element = bar.element() as HTMLElement
  const { left, top, height } = element.getBoundingClientRect()
  const target = document.elementFromPoint(left + from.x, top + height / 2)!
  const at = (x: number): PointerEventInit => ({
    bubbles: true,
    pointerId: 1,
    button: 0,
    clientX: left + from.x + x,
    clientY: top + height / 2,
  })
  element.setPointerCapture = () => {} // an invented pointer cannot be captured
  target.dispatchEvent(new PointerEvent('pointerdown', at(0)))
  target.dispatchEvent(new PointerEvent('pointermove', at(by / 2)))
  await expect.poll(() => element.dataset['lifted']).toBe('')
  target.dispatchEvent(new PointerEvent('pointermove', at(by)))
  if (!isReleased) return element
  target.dispatchEvent(new PointerEvent('pointerup', at(by)))
  target.dispatchEvent(new MouseEvent('click', at(by)))
  return element
}

test('a bar lies over its days, and says its dates and state', async () => {
  render(<Sample shown={item()} />)
  const { left, width } = bar.element().getBoundingClientRect()
  const track = bar.element().parentElement!.getBoundingClientRect().left
  expect([Math.round(left - track), Math.round(width)]).toEqual([275, 208]) // 18:00 on the third day, 2 days and 2 hours
  await expect.element(bar).toHaveAccessibleName('Season 3: Tue, Nov 24, 06:00 PM – Thu, Nov 26, 08:00 PM, Scheduled')
  await bar.click()
  expect([opened, dropped]).toEqual([1, []])
})

test('the dates stand whole beside a bar that is too narrow for them', async () => {
  render(<Sample shown={item({ startsAt: '2026-11-23T06:00:00.000Z', endsAt: '2026-11-23T07:00:00.000Z' })} />)
  const dates = page.getByText('Mon, Nov 23, 06:00 AM – 07:00 AM')
  await expect.element(dates).toBeVisible()
  const [text, own] = [dates.element().getBoundingClientRect(), bar.element().getBoundingClientRect()]
  expect(text.left).toBeGreaterThan(own.right)
})

test.for([
  ['all of it', 100, 103, '11-25T18:30 – 11-27T20:30'],
  ['its start', 2, -100, '11-23T18:00 – 11-26T20:00'],
  ['its end', 206, 25, '11-24T18:00 – 11-27T02:00'],
] as const)('the pointer drags %s, in steps of half an hour', async ([, x, by, dates]) => {
  render(<Sample shown={item()} />)
  await drag({ x }, by)
  await expect.poll(() => dropped).toEqual([dates])
  expect(opened).toBe(0)
})

test('Escape puts a dragged bar back', async () => {
  render(<Sample shown={item()} />)
  const element = await drag({ x: 100 }, 100, { isReleased: false })
  await expect.element(bar).toHaveAccessibleName(/Wed, Nov 25, 06:00 PM/)
  await userEvent.keyboard('{Escape}')
  await expect.element(bar).toHaveAccessibleName(/Tue, Nov 24, 06:00 PM/)
  element.dispatchEvent(new PointerEvent('pointerup', { bubbles: true, pointerId: 1 }))
  expect(dropped).toEqual([])
})

test('the start of an active announcement cannot be dragged', async () => {
  render(<Sample shown={item({ kind: 'announcement', status: true, state: 'live' })} />)
  await drag({ x: 2 }, 100)
  await expect.poll(() => dropped).toEqual(['11-24T18:00 – 11-27T20:00'])
})

test('Space picks a bar up and drops it, the arrow keys move it, with Shift only its end', async () => {
  render(<Sample shown={item()} />)
  ;(bar.element() as HTMLElement).focus()
  await userEvent.keyboard(' ')
  await expect
    .element(page.getByRole('status'))
    .toHaveTextContent('Season 3 picked up: Tue, Nov 24, 06:00 PM – Thu, Nov 26, 08:00 PM. Move it with the arrow keys.')
  await userEvent.keyboard('{ArrowRight}{ArrowRight}{ArrowDown}{ArrowLeft}')
  await expect.element(page.getByRole('status')).toHaveTextContent('Wed, Nov 25, 06:30 PM – Fri, Nov 27, 08:30 PM')
  await userEvent.keyboard('{Shift>}{ArrowUp}{/Shift} ')
  await expect.poll(() => dropped).toEqual(['11-25T18:30 – 11-26T20:30'])
  expect(opened).toBe(0)
  await userEvent.keyboard('{Enter}')
  expect(opened).toBe(1)
})

test.for(['{Escape}', '{Tab}'])('%s puts a bar back that was picked up', async (key) => {
  render(<Sample shown={item()} span="month" />)
  ;(bar.element() as HTMLElement).focus()
  await userEvent.keyboard(' {ArrowRight}')
  await expect.element(bar).toHaveAccessibleName(/Wed, Nov 25, 06:00 PM/)
  await userEvent.keyboard(key)
  await expect.element(bar).toHaveAccessibleName(/Tue, Nov 24, 06:00 PM/)
  await expect
    .element(page.getByRole('status'))
    .toHaveTextContent('Season 3 is back: Tue, Nov 24, 06:00 PM – Thu, Nov 26, 08:00 PM.')
  expect(dropped).toEqual([])
})

test('the heading gets the focus of a bar only when the bar is gone', async () => {
  const heading = <h1 tabIndex={-1}>Calendar</h1>
  const show = render(
    <main>
      {heading}
      <Sample shown={item()} />
    </main>,
  )
  const onHeadingFocus = vi.fn<() => void>()
  page.getByRole('heading').element().addEventListener('focus', onHeadingFocus)
  ;(bar.element() as HTMLElement).focus()
  await userEvent.keyboard(' {ArrowRight} ')
  await expect.poll(() => dropped).toHaveLength(1)
  await expect.element(bar).toHaveFocus()
  expect(onHeadingFocus).not.toHaveBeenCalled()
  show(<main>{heading}</main>)
  await expect.element(page.getByRole('heading')).toHaveFocus()
})

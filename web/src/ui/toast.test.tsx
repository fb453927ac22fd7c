import { Popover } from '@mantine/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { toast } from './toast.tsx'

const toasts = page.getByRole('alert')

// Only timers of toasts are fake; React and the assertions do not depend on them.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
// A pointer left on a toast would keep the next test's toast open.
afterEach(async () => {
  vi.useRealTimers()
  await userEvent.unhover(document.body)
})

test('§8 a toast is an alert in a live region, at the top right, above the page’s heading', async () => {
  render(<p>A page</p>)
  toast.success('Copied!')
  await expect.element(toasts).toHaveTextContent('Copied!')
  expect(toasts.element().closest('[aria-live=polite]')).not.toBeNull()
  await vi.advanceTimersByTimeAsync(1_000)
  const { top, right, bottom } = toasts.element().getBoundingClientRect()
  expect(right).toBeGreaterThan(innerWidth - 40)
  expect(top).toBeLessThan(8)
  expect(bottom).toBeLessThanOrEqual(40)
})

test('§9 a toast closes by itself after 5000 ms', async () => {
  render(<p>A page</p>)
  toast.failure('Internal Server Error!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(4_900)
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  await expect.element(toasts).not.toBeInTheDocument()
})

test.for([1000, 2000])('§4 a toast may come %i ms late', async (delayMs) => {
  render(<p>A page</p>)
  toast.success('Task Added Successfully!', { delayMs })
  await vi.advanceTimersByTimeAsync(delayMs - 10)
  await expect.element(toasts).not.toBeInTheDocument()
  await vi.advanceTimersByTimeAsync(20)
  await expect.element(toasts).toBeVisible()
})

test('§9 hovering a toast’s button keeps the toast open; Dismiss closes it', async () => {
  render(<p>A page</p>)
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  const { width, height } = page.getByRole('button', { name: 'Dismiss' }).element().getBoundingClientRect()
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(24) // WCAG 2.5.8
  await page.getByRole('button', { name: 'Dismiss' }).hover()
  await vi.advanceTimersByTimeAsync(20_000)
  await expect.element(toasts).toBeVisible()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await vi.advanceTimersByTimeAsync(1_000)
  await expect.element(toasts).not.toBeInTheDocument()
})

test('a toast with an action stays 10 s, runs the action once and closes', async () => {
  render(<p>A page</p>)
  const onClick = vi.fn<() => void>()
  toast.success('Task 1 moved.', { action: { label: 'Undo', onClick } })
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(9_000)
  await expect.element(toasts).toBeVisible()
  await toasts.getByRole('button', { name: 'Undo' }).click()
  expect(onClick).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(1_000)
  await expect.element(toasts).not.toBeInTheDocument()
})

test('§9 a toast with a long reason is no higher than its lane until the pointer is on it', async () => {
  render(<p>A page</p>)
  toast.failure('Error Updating Announcement!', { detail: 'Somebody else has changed this meanwhile. '.repeat(12) })
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  const box = () => toasts.element().getBoundingClientRect()
  expect(box().height).toBeLessThanOrEqual(36)
  expect(box().right).toBeLessThan(innerWidth)
  await toasts.hover()
  expect(box().height).toBeGreaterThan(60)
})

/** A row at the upper edge of the window, as if the page were scrolled, with a button at the right. */
const rowAtTop = (
  <main style={{ position: 'fixed', inset: '0 0 auto' }}>
    <table style={{ width: '100%' }}>
      <tbody>
        <tr>
          <td>Ada</td>
          <td style={{ textAlign: 'end' }}>
            <button type="button" style={{ width: '8rem', height: '2rem' }}>
              Block
            </button>
          </td>
        </tr>
      </tbody>
    </table>
  </main>
)
const isOver = (element: Element): boolean => {
  const [a, b] = [toasts.element().getBoundingClientRect(), element.getBoundingClientRect()]
  return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top
}

test('§9 a toast moves aside for a button where it would stand', async () => {
  render(rowAtTop)
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isOver(page.getByRole('button', { name: 'Block' }).element())).toBe(false)
})

test('§9 a toast moves below the row with the focus, which was just changed', async () => {
  render(rowAtTop)
  await page.getByRole('button', { name: 'Block' }).click()
  toast.success('Ada blocked.')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isOver(page.getByRole('row').element())).toBe(false)
})

test('a toast does not move while its button has the focus', async () => {
  const show = render(<p>A page</p>)
  const undo = vi.fn<() => void>()
  toast.success('Deleted!', { action: { label: 'Undo', onClick: undo } })
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  const button = page.getByRole('button', { name: /^Undo/ })
  ;(button.element() as HTMLElement).focus()
  const before = toasts.element().getBoundingClientRect().right
  show(rowAtTop)
  window.dispatchEvent(new Event('scroll'))
  expect(toasts.element().getBoundingClientRect().right).toBe(before)
  await button.click()
  expect(undo).toHaveBeenCalledOnce()
})

test('§9 a toast stays while a button of it has the focus', async () => {
  render(<p>A page</p>)
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  ;(page.getByRole('button', { name: 'Dismiss' }).element() as HTMLElement).focus()
  await vi.advanceTimersByTimeAsync(20_000)
  await expect.element(toasts).toBeVisible()
  ;(document.activeElement as HTMLElement).blur()
  await vi.advanceTimersByTimeAsync(6_000)
  await expect.element(toasts).not.toBeInTheDocument()
})

test('§8 trying again drops toasts of earlier failures, also delayed ones', async () => {
  render(<p>A page</p>)
  toast.failure('Internal Server Error!')
  toast.success('Copied!')
  await expect.poll(() => toasts.elements().length).toBe(2)
  toast.failure('Updating info failed!', { delayMs: 1000 })
  toast.dropFailures()
  await vi.advanceTimersByTimeAsync(3_000)
  await expect.poll(() => toasts.elements().map(({ textContent }) => textContent)).toEqual(['Copied!'])
})

test('a popover covers a toast', async () => {
  render(
    <Popover opened position="bottom-end" withinPortal>
      <Popover.Target>
        <button type="button" style={{ position: 'fixed', top: '-1.5rem', right: '1rem' }}>
          More exports
        </button>
      </Popover.Target>
      <Popover.Dropdown>
        <div style={{ width: '22rem', height: '12rem' }}>Everyone</div>
      </Popover.Dropdown>
    </Popover>,
  )
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  const { left, top, width, height } = page.getByRole('button', { name: 'Dismiss' }).element().getBoundingClientRect()
  expect(document.elementFromPoint(left + width / 2, top + height / 2)?.textContent).toBe('Everyone')
})

test('§8 a toast shows the reason beside its text, unless both are the same', async () => {
  render(<p>A page</p>)
  toast.failure('Error Updating Announcement!', { detail: 'Somebody else has changed this meanwhile.' })
  await expect.element(toasts.getByText('Error Updating Announcement!', { exact: true })).toBeVisible()
  await expect.element(toasts.getByText('Somebody else has changed this meanwhile.', { exact: true })).toBeVisible()
  toast.failure('Internal Server Error', { detail: 'Internal Server Error!' })
  await expect.element(toasts.getByText('Internal Server Error', { exact: true })).toBeVisible()
  await expect.element(toasts.getByText('Internal Server Error!')).not.toBeInTheDocument()
})

test('a withdrawn button goes, and its message stays; a button withdrawn before it is shown never appears', async () => {
  render(<p>A page</p>)
  const withdrawal = new AbortController()
  const action = { label: 'Undo', onClick: () => {}, withdrawn: withdrawal.signal }
  toast.success('One moved.', { action })
  await expect.element(page.getByRole('button', { name: 'Undo' })).toBeVisible()
  withdrawal.abort()
  await expect.element(page.getByRole('button', { name: 'Undo' })).not.toBeInTheDocument()
  await expect.element(toasts.getByText('One moved.', { exact: true })).toBeVisible()
  toast.success('Two moved.', { action })
  await expect.element(toasts.getByText('Two moved.', { exact: true })).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Undo' })).not.toBeInTheDocument()
})

test('of several toasts the newest is shown; a button counts the older ones and lists them', async () => {
  render(<p>A page</p>)
  for (const text of ['the first and longest', 'two', 'three']) toast.success(text)
  await expect.poll(() => toasts.elements().length).toBe(3)
  await vi.advanceTimersByTimeAsync(1_000)
  const seen = () => toasts.elements().filter((element) => element.checkVisibility({ checkOpacity: true }))
  await expect.poll(() => seen().map(({ textContent }) => textContent)).toEqual(['three'])
  const more = page.getByRole('button', { name: '+2 more messages' })
  await expect.element(more).toHaveAttribute('aria-expanded', 'false')
  await more.click()
  await expect.poll(seen).toHaveLength(3)
  const tops = toasts.elements().map((element) => element.getBoundingClientRect().top)
  expect(new Set(tops).size).toBe(3)
})

test('an older toast is shown while a button of it has the focus', async () => {
  render(<p>A page</p>)
  toast.success('Task 1 moved.', { action: { label: 'Undo', onClick: () => {} } })
  toast.success('Copied!')
  await expect.poll(() => toasts.elements().length).toBe(2)
  const undo = page.getByRole('button', { name: /^Undo/ }).element() as HTMLElement
  undo.focus()
  await vi.advanceTimersByTimeAsync(1_000)
  const seen = () => toasts.elements().filter((element) => element.checkVisibility({ checkOpacity: true }))
  await expect.poll(() => seen().map((element) => element.contains(undo))).toEqual([true])
})

test('the code for toasts is not loaded before the first interaction', async () => {
  render(<button type="button">Touch</button>)
  await expect.element(page.getByRole('button', { name: 'Touch' })).toBeVisible()
  expect(document.querySelector('[aria-live=polite]')).toBeNull()
  await userEvent.tab()
  await expect.poll(() => document.querySelector('[aria-live=polite]')).not.toBeNull()
})

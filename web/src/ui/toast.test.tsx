import { Popover } from '@mantine/core'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { Page } from './page.tsx'
import { toast } from './toast.tsx'

const toasts = page.getByRole('alert')

// Only timers of toasts are fake; React and the assertions do not depend on them.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
// A pointer left on a toast would keep the next test's toast open.
afterEach(async () => {
  vi.useRealTimers()
  await userEvent.unhover(document.body)
})

test('§8 a toast is an alert in a live region, at the top right, below the page’s buttons', async () => {
  render(<p>A page</p>)
  toast.success('Copied!')
  await expect.element(toasts).toHaveTextContent('Copied!')
  expect(toasts.element().closest('[aria-live=polite]')).not.toBeNull()
  await vi.advanceTimersByTimeAsync(1_000)
  const { top, right } = toasts.element().getBoundingClientRect()
  expect(right).toBeGreaterThan(innerWidth - 40)
  expect(top).toBeGreaterThan(72)
  expect(top).toBeLessThan(120)
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

test.for([
  [1440, 900],
  [390, 844],
] as const)('§9 at %i × %i a toast leaves the buttons of the page’s head free, also when that grows', async ([width, height]) => {
  onTestFinished(() => page.viewport(1440, 900))
  await page.viewport(width, height)
  const many = ['Select', 'Download User Data', 'Download as CSV', 'Add User', 'Make Active', 'Columns', 'Filters', 'Density']
  const head = (buttons: string[]) => (
    <Page
      title="Manage Users"
      actions={buttons.map((name) => (
        <button key={name} type="button" style={{ minHeight: '2.25rem', minWidth: '9rem' }}>
          {name}
        </button>
      ))}
    >
      <input aria-label="Search" />
    </Page>
  )
  const show = render(head(['Add User']))
  const isBelow = () => {
    const { bottom } = document.querySelector('header')!.getBoundingClientRect()
    return toasts.element().getBoundingClientRect().top >= bottom
  }
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isBelow()).toBe(true)
  show(head(many))
  await page.getByLabelText('Search').click()
  expect(isBelow()).toBe(true)
})

/** A page whose list has its toolbar at this height. */
const listPage = (toolbarTop: string) => (
  <Page title="Social Tasks">
    <div data-page-head style={{ position: 'absolute', top: toolbarTop, height: '2.5rem' }}>
      Toolbar
    </div>
  </Page>
)

test('§9 a toast stands below a list’s toolbar, unless that is far down', async () => {
  const show = render(listPage('8rem'))
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(toasts.element().getBoundingClientRect().top).toBeGreaterThanOrEqual(168)
  show(listPage('40rem'))
  window.dispatchEvent(new Event('resize'))
  await expect.poll(() => toasts.element().getBoundingClientRect().top).toBeLessThan(160)
})

test('a toast does not move while its button is pressed', async () => {
  const show = render(listPage('8rem'))
  const undo = vi.fn<() => void>()
  toast.success('Deleted!', { action: { label: 'Undo', onClick: undo } })
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  show(listPage('12rem'))
  await page.getByRole('button', { name: /^Undo/ }).click()
  expect(undo).toHaveBeenCalledOnce()
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

test('content below a toast can be seen and clicked', async () => {
  const onClick = vi.fn<() => void>()
  render(
    <button
      type="button"
      style={{ position: 'fixed', top: '5rem', right: '1rem', width: '20rem', height: '4rem' }}
      onClick={onClick}
    >
      Below
    </button>,
  )
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  const below = page.getByRole('button', { name: 'Below' })
  await below.hover()
  await expect.element(toasts).toHaveAttribute('data-yields')
  await below.click()
  expect(onClick).toHaveBeenCalledOnce()
  await userEvent.hover(page.getByRole('button', { name: 'Dismiss' }))
  await expect.element(toasts).not.toHaveAttribute('data-yields')
})

test('a popover covers a toast', async () => {
  render(
    <Popover opened position="bottom-end" withinPortal>
      <Popover.Target>
        <button type="button" style={{ position: 'fixed', top: '2rem', right: '1rem' }}>
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

test('a toast turns transparent when an element below it has the focus', async () => {
  render(
    <>
      <button type="button">Elsewhere</button>
      <button type="button" style={{ position: 'fixed', top: '5rem', right: '1rem', width: '20rem', height: '4rem' }}>
        Below
      </button>
    </>,
  )
  toast.success('Copied!')
  await expect.element(toasts).toBeVisible()
  await vi.advanceTimersByTimeAsync(1_000)
  await page.getByRole('button', { name: 'Elsewhere' }).click()
  await expect.element(toasts).not.toHaveAttribute('data-yields')
  await userEvent.tab()
  await expect.element(page.getByRole('button', { name: 'Below' })).toHaveFocus()
  await expect.element(toasts).toHaveAttribute('data-yields')
})

test('§8 a toast shows the reason below its text, unless both are the same', async () => {
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

test('several toasts are stacked', async () => {
  render(<p>A page</p>)
  for (const text of ['one', 'two', 'three']) toast.success(text)
  await expect.poll(() => toasts.elements().length).toBe(3)
  await vi.advanceTimersByTimeAsync(1_000)
  const tops = toasts.elements().map((element) => element.getBoundingClientRect().top)
  expect(new Set(tops).size).toBe(3)
})

test('the code for toasts is not loaded before the first interaction', async () => {
  render(<button type="button">Touch</button>)
  await expect.element(page.getByRole('button', { name: 'Touch' })).toBeVisible()
  expect(document.querySelector('[aria-live=polite]')).toBeNull()
  await userEvent.tab()
  await expect.poll(() => document.querySelector('[aria-live=polite]')).not.toBeNull()
})

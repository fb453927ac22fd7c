import { beforeEach, expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { DownloadButton } from './download.tsx'
import { toast } from './toast.tsx'

type Start = Parameters<typeof DownloadButton>[0]['start']
type Options = Parameters<Start>[0]

const texts = { successText: 'Data Downloaded Successfuly!', failureText: 'Error Downloading Data!' }
const button = page.getByRole('button', { name: 'Download User Data' })
const cancel = page.getByRole('button', { name: 'Cancel' })
const progress = page.getByRole('progressbar', { name: 'Download User Data' })
const toasts = page.getByRole('alert')

/** A download that does not end before `end` or `fail` is called; `started` collects the options of each start. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Start>>>()
  const started: Options[] = []
  const start: Start = (options) => {
    started.push(options)
    options.signal.addEventListener('abort', () => reject(options.signal.reason as Error))
    return promise
  }
  return { start, started, fail: reject, end: () => resolve({ blob: new Blob(['rows']), fileName: 'userdata.xlsx' }) }
}

let saved: HTMLAnchorElement[] = []
beforeEach(() => {
  saved = []
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(this)
  })
})

test('§7 the file is saved under its name, and a toast says so', async () => {
  const { start, end } = held()
  render(<DownloadButton label="Download User Data" start={start} {...texts} />)
  await button.click()
  end()
  await expect.element(toasts).toHaveTextContent('Data Downloaded Successfuly!')
  await expect.element(button).toBeVisible()
  expect(saved.map(({ download }) => download)).toEqual(['userdata.xlsx'])
  expect(await (await fetch(saved[0]?.href ?? '')).text()).toBe('rows')
})

test('§8 a failed download shows a toast, saves nothing and can be retried', async () => {
  const { start, started, fail } = held()
  render(<DownloadButton label="Download User Data" start={start} {...texts} />)
  await button.click()
  fail(new Error('boom'))
  await expect.element(toasts).toHaveTextContent('Error Downloading Data!')
  expect(saved).toEqual([])
  await button.click()
  expect(started).toHaveLength(2)
  await expect.poll(() => toasts.elements()).toHaveLength(2)
})

test('§8 the failure text can depend on the error', async () => {
  const { start, fail } = held()
  const failureText = (error: unknown) => (error as Error).message
  render(<DownloadButton label="Download User Data" start={start} {...texts} failureText={failureText} />)
  await button.click()
  fail(new Error('This item has no history.'))
  await expect.element(toasts).toHaveTextContent('This item has no history.')
})

test('§4 progress is shown in rows if the total is known, otherwise in bytes', async () => {
  const { start, started, end } = held()
  render(<DownloadButton label="Download User Data" start={start} {...texts} />)
  await button.click()
  await expect.element(progress).toBeVisible()
  await expect.element(page.getByText('0.0 MB')).toBeVisible()
  started[0]?.onProgress({ bytes: 12_345_678 })
  await expect.element(page.getByText('12.3 MB')).toBeVisible()
  started[0]?.onProgress({ bytes: 20_000_000, rows: 250_000, total: 1_000_000 })
  await expect.element(page.getByText('250,000 of 1,000,000 rows')).toBeVisible()
  await expect.element(progress).toHaveAttribute('aria-valuenow', '25')
  end()
  await expect.element(progress).not.toBeInTheDocument()
})

test('§4 Cancel ends the download without a toast and without a file', async () => {
  const { start, started } = held()
  render(<DownloadButton label="Download User Data" start={start} {...texts} />)
  await button.click()
  await cancel.click()
  await expect.element(button).toBeVisible()
  expect(started[0]?.signal.aborted).toBe(true)
  expect(saved).toEqual([])
  toast.success('The first toast') // a toast of the download would have come first
  await expect.element(toasts).toHaveTextContent('The first toast')
})

test('§4 a download continues on other pages, and its progress is still there on return', async () => {
  const { start, started, end } = held()
  const download = <DownloadButton label="Download User Data" start={start} {...texts} />
  const show = render(download)
  await button.click()
  show(<p>Another page</p>)
  await expect.element(page.getByText('Another page')).toBeVisible()
  started[0]?.onProgress({ bytes: 2_000_000 })
  show(download)
  await expect.element(page.getByText('2.0 MB')).toBeVisible()
  show(<p>Another page</p>)
  end()
  await expect.element(toasts).toHaveTextContent('Data Downloaded Successfuly!')
  expect(saved).toHaveLength(1)
})

test('buttons with the same id share one download; another id is a separate download', async () => {
  const { start, started } = held()
  render(
    <>
      {['social', 'social', 'daily'].map((id, index) => (
        <DownloadButton key={`${id}${index}`} label="Download" id={id} start={start} {...texts} />
      ))}
    </>,
  )
  await page.getByRole('button', { name: 'Download' }).nth(0).click()
  await expect.poll(() => cancel.elements()).toHaveLength(2)
  await expect.element(page.getByRole('button', { name: 'Download' })).toBeEnabled()
  expect(started).toHaveLength(1)
  await cancel.nth(1).click()
  await expect.element(cancel).not.toBeInTheDocument()
})

test('design §7 other formats are in a menu, and run in the place of the button', async () => {
  const [own, other] = [held(), held()]
  render(
    <DownloadButton
      label="Download User Data"
      start={own.start}
      others={[{ label: 'As CSV', start: other.start }]}
      note="37 of 1,203"
      {...texts}
    />,
  )
  await expect.element(button).toHaveAccessibleDescription('37 of 1,203')
  await expect.element(page.getByRole('button', { name: 'As CSV' })).not.toBeInTheDocument()
  await page.getByRole('button', { name: 'More exports' }).click()
  await page.getByRole('button', { name: 'As CSV' }).click()
  await expect.element(progress).toBeVisible()
  expect(own.started).toHaveLength(0)
  expect(other.started).toHaveLength(1)
  other.end()
  await expect.element(toasts).toHaveTextContent('Data Downloaded Successfuly!')
})

test('a disabled button starts nothing', async () => {
  const { start } = held()
  render(<DownloadButton label="Download User Data" start={start} {...texts} disabled />)
  await expect.element(button).toBeDisabled()
})

test('the focus moves from the download button to Cancel, and back when the download ends', async () => {
  const { start, end } = held()
  render(<DownloadButton label="Download User Data" start={held().start} others={[{ label: 'As CSV', start }]} {...texts} />)
  await page.getByRole('button', { name: 'More exports' }).click()
  await page.getByRole('button', { name: 'As CSV' }).click()
  await expect.element(cancel).toHaveFocus()
  end()
  await expect.element(button).toHaveFocus()
})

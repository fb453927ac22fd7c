import { MAX_BULK_IDS } from '@arcade/contract/entity'
import { afterEach, expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { counted } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import { BulkButton, type BulkAct } from './bulk-act.tsx'
import { forgetSelections, SelectionBar, useSelection } from './selection.tsx'

afterEach(forgetSelections)

const titles = ['Ada', 'Bob', 'Cy', 'Di', 'Eve', 'Flo', 'Gus', 'Hal', 'Ida', 'Jo', 'Kit', 'Lou']
const rows = titles.map((title, index) => ({ id: `${index}`, title }))
const run = vi.fn<BulkAct['run']>(async () => ({ affected: 12, named: rows.slice(0, 10), refused: 0, refusals: [] }))

function List({ shown, search = '', isMore = false }: { shown: string[]; search?: string; isMore?: boolean }) {
  const selection = useSelection('people', { search })
  return (
    <>
      <button type="button" onClick={() => selection.set(shown, true)}>
        Pick page
      </button>
      <button type="button" onClick={() => selection.set(['0'], false, shown)}>
        Unpick the first row
      </button>
      <SelectionBar selection={selection} shownIds={shown} total={12} isMore={isMore} noun="people">
        <BulkButton
          act={{
            title: 'Delete people',
            confirmLabel: (count) => `Delete ${counted(count, 'person', 'people')}`,
            question: (count) => `Are you sure you want to delete ${counted(count, 'person', 'people')}?`,
            run,
            successText: (count) => `${counted(count, 'person', 'people')} deleted.`,
            messageOf: String,
            onEnd: async () => {},
          }}
        >
          Delete Selected
        </BulkButton>
      </SelectionBar>
    </>
  )
}

const count = page.getByRole('status')
const dialog = page.getByRole('alertdialog')
const pickPage = page.getByRole('button', { name: 'Pick page' })

test('design §7 the selection says how many of its rows are not on the page', async () => {
  const show = render(<List shown={['0', '1', '2']} />)
  await pickPage.click()
  await expect.element(count).toMatchTextContent(/^3 selected$/)
  show(<List shown={['2', '3']} />)
  await expect.element(count).toMatchTextContent(/^3 selected, 2 not on this page$/)
})

test('the selection bar gets the focus when Select all disappears', async () => {
  render(<List shown={['0', '1']} search="a" />)
  const all = page.getByRole('button', { name: 'Select all 12 matching' })
  await all.click()
  await expect.element(all).not.toBeInTheDocument()
  await expect.element(page.getByRole('region', { name: 'Selection' })).toHaveFocus()
})

test('Select all is not offered when the page has all rows and all are selected', async () => {
  render(<List shown={rows.map(({ id }) => id)} />)
  const all = page.getByRole('button', { name: 'Select all 12 matching' })
  await expect.element(all).toBeVisible()
  await pickPage.click()
  await expect.element(count).toMatchTextContent(/^12 selected$/)
  await expect.element(all).not.toBeInTheDocument()
})

test('design §7 a failure says that at most 10,000 rows can be picked only if one was not added', async () => {
  const ids = Array.from({ length: MAX_BULK_IDS + 1 }, (_, index) => `${index}`)
  const failure = page.getByRole('alert')
  const show = render(<List shown={ids.slice(0, MAX_BULK_IDS)} />)
  await pickPage.click()
  await pickPage.click()
  await expect.element(count).toMatchTextContent(/^10,000 selected$/)
  toast.note('Nothing failed.') // a failure would be shown before it
  await expect.element(failure.filter({ hasText: 'Nothing failed.' })).toBeVisible()
  expect(failure.elements()).toHaveLength(1)
  show(<List shown={ids} />)
  await pickPage.click()
  await expect.element(failure.filter({ hasText: 'At most 10,000 rows can be picked.' })).toBeVisible()
  await expect.element(count).toMatchTextContent(/^10,000 selected$/)
})

test('design §7 a selection of all rows of one search says so once the list shows another search', async () => {
  const show = render(<List shown={['0', '1']} search="a" />)
  await page.getByRole('button', { name: 'Select all 12 matching' }).click()
  await expect.element(count).toMatchTextContent(/^12 selected$/)
  show(<List shown={['4']} search="e" />)
  await expect.element(count).toMatchTextContent(/^12 selected, by another search or filter than this one$/)
  await expect.element(page.getByRole('button', { name: 'Select all 12 matching' })).toBeVisible()
})

test('design §7 unpicking a row of all that match leaves the rest of the page, and says so', async () => {
  const note = 'Now only rows of this page are selected, no longer all that match.'
  const unpick = page.getByRole('button', { name: 'Unpick the first row' })
  const show = render(<List shown={['0', '1', '2']} search="a" />)
  await pickPage.click()
  await unpick.click()
  await expect.element(page.getByText(note)).not.toBeInTheDocument()
  await page.getByRole('button', { name: 'Select all 12 matching' }).click()
  await unpick.click()
  await expect.element(count).toMatchTextContent(/^2 selected$/)
  await expect.element(page.getByText(note)).toBeVisible()
  show(<></>)
})

test('design §7 a selection that was not counted to its end says all, and more than the count', async () => {
  render(<List shown={['0', '1']} search="a" isMore />)
  await page.getByRole('button', { name: 'Select all matching' }).click()
  await expect.element(count).toMatchTextContent(/^All matching people selected \(more than 12\)$/)
})

test('design §7 the confirmation names the first ten rows', async () => {
  const show = render(<List shown={['0', '1', '2']} />)
  await pickPage.click()
  show(<List shown={['1', '2']} />)
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await expect.element(dialog).toMatchTextContent(/delete 12 people\?/)
  const named = dialog.getByRole('listitem')
  expect(named.all().map((item) => item.element().textContent)).toEqual([
    'Ada',
    'Bob',
    'Cy',
    ...titles.slice(3, 10),
    '… and 2 more',
  ])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(run).toHaveBeenCalledExactlyOnceWith({ dryRun: true })
})

test('the confirmation of an act on one row, which leaves out one, speaks of one', async () => {
  run.mockResolvedValueOnce({
    affected: 1,
    named: rows.slice(0, 1),
    refused: 1,
    refusals: [{ id: '1', title: 'Bob', code: 'STALE', reason: 'Bob has been changed.' }],
  })
  render(<List shown={['0', '1']} />)
  await pickPage.click()
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await expect.element(dialog).toMatchTextContent(/delete 1 person\?/)
  await expect.element(dialog).toMatchTextContent(/1 will be left as it is:/)
  await expect.element(dialog.getByRole('button', { name: 'Delete 1 person' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
})

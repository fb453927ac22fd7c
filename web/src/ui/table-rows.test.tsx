import { expect, test, vi } from 'vitest'
import { render } from '#src/testing/render.tsx'
import { openRow, opensRow } from './table-rows.ts'

test('Enter on a row opens it, unless an act on it is under way', () => {
  const open = vi.fn<() => void>()
  const list = (isBusy: boolean) => (
    <main>
      <table>
        <tbody>
          <tr tabIndex={-1} aria-busy={isBusy || undefined}>
            <td>
              <button type="button" {...opensRow} onClick={open}>
                Ada
              </button>
            </td>
          </tr>
        </tbody>
      </table>
    </main>
  )
  const show = render(list(true))
  expect(openRow(document.querySelector('tr'))).toBe(true)
  expect(open).not.toHaveBeenCalled()
  show(list(false))
  expect(openRow(document.querySelector('tr'))).toBe(true)
  expect(open).toHaveBeenCalledOnce()
})

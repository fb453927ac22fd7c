import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { useViewMore } from './view-more.tsx'

const long = 'https://arcade.example.org/a/very/long/address'

function Sample() {
  const { open, dialog } = useViewMore()
  return (
    <>
      <button type="button" onClick={() => open({ label: 'Link', text: long })}>
        https://arcade…
      </button>
      <button type="button" onClick={() => open({ label: 'Email', text: 'ada@gmail.com' })}>
        ada@…
      </button>
      {dialog}
    </>
  )
}

const link = page.getByRole('button', { name: 'https://arcade…' })
const dialog = page.getByRole('dialog', { name: 'View More' })
const toasts = page.getByRole('alert')

test('§2 View More shows the whole value with its label; Close closes it', async () => {
  render(<Sample />)
  await expect.element(dialog).not.toBeInTheDocument()
  await link.click()
  await expect.element(dialog).toMatchTextContent(new RegExp(`Link${long}`))
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  await page.getByRole('button', { name: 'ada@…' }).click()
  await expect.element(dialog).toMatchTextContent(/Emailada@gmail\.com/)
})

test('§2 View More by keyboard: Copy has the focus, Escape closes it and restores the focus', async () => {
  render(<Sample />)
  await userEvent.tab()
  await userEvent.keyboard('{Enter}')
  await expect.element(dialog.getByRole('button', { name: 'Copy' })).toHaveFocus()
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog).not.toBeInTheDocument()
  await expect.element(link).toHaveFocus()
})

test('§8 Copy copies the value to the clipboard and says Copied!', async () => {
  render(<Sample />)
  await link.click()
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await expect.element(toasts).toHaveTextContent('Copied!')
  expect(await navigator.clipboard.readText()).toBe(long)
})

test('§8 if the clipboard refuses, the toast says Failed to copy', async () => {
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new DOMException('refused', 'NotAllowedError'))
  render(<Sample />)
  await link.click()
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await expect.element(toasts).toHaveTextContent('Failed to copy')
})

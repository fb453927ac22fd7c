import { Button } from '@mantine/core'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { z } from 'zod'
import { render } from '#src/testing/render.tsx'
import { DialogForm, FormDialog } from './dialog-form.tsx'
import { TextField, useForm } from './form.tsx'

/** Returns when the server has answered. */
let answer = Promise.resolve()

function Blocking() {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Block</Button>
      <FormDialog isOpen={isOpen} title="Block Player" onClose={() => setIsOpen(false)}>
        <ReasonForm onClose={() => setIsOpen(false)} />
      </FormDialog>
    </>
  )
}

function ReasonForm({ onClose }: { onClose: () => void }) {
  const form = useForm(async () => z.object({ reason: z.string() }), { reason: '' })
  return (
    <DialogForm
      form={form}
      onSubmit={() => answer.then(onClose)}
      label="Block Player"
      submitLabel="Block player"
      onCancel={onClose}
    >
      <TextField control={form.control} name="reason" label="Reason" />
    </DialogForm>
  )
}

const dialog = page.getByRole('dialog', { name: 'Block Player' })
const reason = page.getByLabelText('Reason')
const question = page.getByRole('alertdialog', { name: 'Close without saving?' })

async function open(): Promise<void> {
  render(<Blocking />)
  await page.getByRole('button', { name: 'Block' }).click()
  await expect.element(reason).toHaveFocus()
}

test('design §8 Escape closes a dialog without input', async () => {
  await open()
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog).not.toBeInTheDocument()
})

test('design §8 Escape asks before it discards the input; a second Escape keeps the input', async () => {
  await open()
  await userEvent.keyboard('A farm{Escape}')
  await expect.element(question).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(question).not.toBeInTheDocument()
  await expect.element(reason).toHaveValue('A farm')
  await expect.element(reason).toHaveFocus()
  await userEvent.keyboard('{Escape}')
  await question.getByRole('button', { name: 'Close' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
})

test('design §8 a click beside the dialog asks as well', async () => {
  await open()
  await userEvent.keyboard('A farm')
  await userEvent.click(document.querySelector('.mantine-Modal-overlay')!, { position: { x: 5, y: 5 } })
  await expect.element(question).toBeVisible()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect.element(reason).toHaveValue('A farm')
})

test('design §8 a second press that lands beside the dialog, while it sends or closes, asks nothing', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  answer = promise
  await open()
  await userEvent.keyboard('A farm')
  const overlay = document.querySelector<HTMLElement>('.mantine-Modal-overlay')!
  await dialog.getByRole('button', { name: 'Block player' }).click()
  overlay.click()
  await expect.element(reason).toHaveValue('A farm')
  resolve()
  await promise
  overlay.click()
  await expect.element(dialog).not.toBeInTheDocument()
  await expect.element(question).not.toBeInTheDocument()
})

test('design §8 Cancel closes without a question', async () => {
  await open()
  await userEvent.keyboard('A farm')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  await expect.element(question).not.toBeInTheDocument()
})

test('design §8 Escape does not ask after the input was undone', async () => {
  await open()
  await userEvent.keyboard('A{Backspace}{Escape}')
  await expect.element(dialog).not.toBeInTheDocument()
})

import { useState } from 'react'
import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { CONFIRM, useConfirm } from './confirm.tsx'

function Asking() {
  const confirm = useConfirm()
  const [answers, setAnswers] = useState<boolean[]>([])
  const ask = async (message: string) => {
    const answer = await confirm({ title: 'Delete user', message, confirmLabel: CONFIRM, isDestructive: true })
    setAnswers((before) => [...before, answer])
  }
  return (
    <>
      <button type="button" onClick={() => void ask('Are you sure you want to delete Ada?')}>
        Ask
      </button>
      <button type="button" onClick={() => void Promise.all([ask('The first'), ask('The second')])}>
        Ask twice
      </button>
      <output>{answers.join(' ')}</output>
    </>
  )
}

const ask = page.getByRole('button', { name: 'Ask', exact: true })
const dialog = page.getByRole('alertdialog')
const answers = page.getByRole('status')

test('§5 the question is the dialog’s name and description, and there is no answer before a button is pressed', async () => {
  render(<Asking />)
  await expect.element(dialog).not.toBeInTheDocument()
  await ask.click()
  await expect.element(dialog).toHaveAccessibleName('Delete user')
  await expect.element(dialog).toHaveAccessibleDescription('Are you sure you want to delete Ada?')
  await expect.element(answers).toBeEmptyDOMElement()
})

test('§5 Confirm answers true', async () => {
  render(<Asking />)
  await ask.click()
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await expect.element(answers).toHaveTextContent('true')
  await expect.element(dialog).not.toBeInTheDocument()
})

test('§5 Cancel and Escape answer false and restore the focus', async () => {
  render(<Asking />)
  await ask.click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect.element(answers).toHaveTextContent('false')
  await expect.element(ask).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  await expect.element(dialog).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(answers).toHaveTextContent('false false')
  await expect.element(ask).toHaveFocus()
})

test('§5 the answer to one question does not carry over to the next', async () => {
  render(<Asking />)
  await ask.click()
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await expect.element(answers).toHaveTextContent('true')
  await ask.click()
  await expect.element(dialog).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(answers).toHaveTextContent('true false')
})

test('§5 a question asked in the moment in which another one is answered stays open', async () => {
  render(<Asking />)
  await ask.click()
  const cancel = dialog.getByRole('button', { name: 'Cancel' })
  await expect.element(cancel).toBeVisible()
  ;(cancel.element() as HTMLElement).click()
  ;(ask.element() as HTMLElement).click()
  await expect.element(answers).toHaveTextContent('false')
  await expect.element(dialog).toBeVisible()
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await expect.element(answers).toHaveTextContent('false true')
})

test('§5 a question that is replaced by another one is answered false', async () => {
  render(<Asking />)
  await page.getByRole('button', { name: 'Ask twice' }).click()
  await expect.element(dialog).toHaveAccessibleDescription('The second')
  await expect.element(answers).toHaveTextContent('false')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await expect.element(answers).toHaveTextContent('false true')
})

test('§5 the focus stays within the dialog and starts on Cancel', async () => {
  render(<Asking />)
  await ask.click()
  await expect.element(dialog.getByRole('button', { name: 'Cancel' })).toHaveFocus()
  await userEvent.tab()
  await expect.element(dialog.getByRole('button', { name: 'Confirm' })).toHaveFocus()
  await userEvent.tab()
  await expect.element(ask).not.toHaveFocus()
})

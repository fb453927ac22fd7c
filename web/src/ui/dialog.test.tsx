import { Button } from '@mantine/core'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { Dialog, DialogActions } from './dialog.tsx'

/** A dialog that opens a question, and can be unmounted while the question is open. */
function Sample() {
  const [isShown, setIsShown] = useState(true)
  const [isOpen, setIsOpen] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        Open
      </button>
      {/* The question is first in the document, yet has to be above. */}
      <Dialog isQuestion isOpen={isAsking} title="Question" description="Sure?" onClose={() => setIsAsking(false)}>
        <DialogActions>
          <Button variant="default" data-autofocus onClick={() => setIsAsking(false)}>
            Cancel
          </Button>
          <Button onClick={() => setIsShown(false)}>Leave</Button>
        </DialogActions>
      </Dialog>
      {isShown && (
        <Dialog isOpen={isOpen} title="Form" onClose={() => setIsOpen(false)}>
          <DialogActions>
            <Button onClick={() => setIsAsking(true)}>Ask</Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  )
}

const open = page.getByRole('button', { name: 'Open' })
const ask = page.getByRole('button', { name: 'Ask' })
const form = page.getByRole('dialog', { name: 'Form' })
const question = page.getByRole('alertdialog', { name: 'Question' })
const cancel = question.getByRole('button', { name: 'Cancel' })

async function openBoth(): Promise<void> {
  render(<Sample />)
  await open.click()
  await ask.click()
  await expect.element(cancel).toHaveFocus()
}

/** Returns what is beside the topmost dialog. */
function topOverlay(): Element {
  const above = document.elementFromPoint(5, 5)
  if (!above?.closest('[data-portal]')) throw new Error('no dialog is open')
  return above
}

test('Escape closes the topmost dialog only, and each gives the focus back', async () => {
  await openBoth()
  await userEvent.keyboard('{Escape}')
  await expect.element(question).not.toBeInTheDocument()
  await expect.element(form).toBeVisible()
  await expect.element(ask).toHaveFocus()
  await userEvent.keyboard('{Escape}')
  await expect.element(form).not.toBeInTheDocument()
  await expect.element(open).toHaveFocus()
})

/** A dialog that is mounted when it opens, as the first question is. */
function Late() {
  const [isMounted, setIsMounted] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const handleOpen = () => {
    setIsMounted(true)
    setIsOpen(true)
  }
  return (
    <>
      <button type="button" onClick={handleOpen}>
        Open
      </button>
      {isMounted && (
        <Dialog isOpen={isOpen} title="Form" onClose={() => setIsOpen(false)}>
          <DialogActions>
            <Button data-autofocus>Save</Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  )
}

test('a dialog that is closed before it has taken the focus does not take it afterwards', async () => {
  render(<Late />)
  const opener = open.element() as HTMLElement
  opener.focus()
  const pressed = Promise.withResolvers<void>()
  const observer = new MutationObserver(() => {
    if (form.query() === null) return
    observer.disconnect()
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    pressed.resolve()
  })
  observer.observe(document.body, { childList: true, subtree: true })
  opener.click()
  await pressed.promise
  await expect.element(form).not.toBeInTheDocument()
  await new Promise((resolve) => setTimeout(resolve)) // after the timers of Mantine's focus trap
  await expect.element(open).toHaveFocus()
})

test('the second click of a double click on the button that opens a dialog does not close it; a click beside it does', async () => {
  render(<Sample />)
  await open.dblClick()
  await expect.element(form).toBeVisible()
  await userEvent.click(page.elementLocator(topOverlay()), { position: { x: 5, y: 5 } })
  await expect.element(form).not.toBeInTheDocument()
})

test('Enter, held while a dialog is closed, does not press the button that opened it', async () => {
  render(<Sample />)
  await open.click()
  await expect.element(form).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(open).toHaveFocus()
  const isTaken = (repeat: boolean) => {
    const init = { key: 'Enter', repeat, bubbles: true, cancelable: true }
    return !open.element().dispatchEvent(new KeyboardEvent('keydown', init))
  }
  expect([isTaken(true), isTaken(true)]).toEqual([true, true])
  expect([isTaken(false), isTaken(true)], 'pressed again').toEqual([false, false])
})

test('the page behind a dialog does not scroll', async () => {
  render(<Sample />)
  const overflow = () => getComputedStyle(document.documentElement).overflowY
  await open.click()
  await expect.element(form).toBeVisible()
  expect(overflow()).toBe('hidden')
  await userEvent.keyboard('{Escape}')
  await expect.element(form).not.toBeInTheDocument()
  expect(overflow()).toBe('visible')
})

test('a question is above the dialog that asks it, and only its buttons and Escape close it', async () => {
  await openBoth()
  await expect.element(question).toHaveAccessibleDescription('Sure?')
  await expect.element(question.getByRole('button', { name: 'Close' })).not.toBeInTheDocument()
  await userEvent.click(page.elementLocator(topOverlay()), { position: { x: 5, y: 5 } })
  await expect.element(question).toBeVisible()
  await expect.element(cancel).toHaveFocus()
  await cancel.click() // not possible if the form covered it
  await expect.element(question).not.toBeInTheDocument()
})

test('a dialog that goes with its page does not keep Escape from the others', async () => {
  await openBoth()
  await question.getByRole('button', { name: 'Leave' }).click()
  await expect.element(form).not.toBeInTheDocument()
  await userEvent.keyboard('{Escape}')
  await expect.element(question).not.toBeInTheDocument()
})

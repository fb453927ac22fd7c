import { expect, test, vi } from 'vitest'
import { page } from 'vitest/browser'
import { z } from 'zod'
import { render } from '#src/testing/render.tsx'
import { FormRefusal } from './form-notice.tsx'
import { Form, type Refusal, SubmitButton, TextField, useForm } from './form.tsx'

interface SampleProps {
  onSubmit: () => Promise<Refusal | void>
  onReload?: () => void
}

function Sample({ onSubmit, onReload }: SampleProps) {
  const form = useForm(async () => z.object({ title: z.string() }), { title: 'Mine' })
  return (
    <Form form={form} onSubmit={onSubmit} label="Task">
      <TextField control={form.control} name="title" label="Title" />
      <FormRefusal form={form} onReload={onReload} />
      <SubmitButton>Update</SubmitButton>
    </Form>
  )
}

const submit = page.getByRole('button', { name: 'Update' })
const reload = page.getByRole('button', { name: 'Load the new version' })

test('§8 the reason why a form was not saved is shown until it is sent again', async () => {
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {})
  onSubmit.mockResolvedValueOnce({ message: 'This task does not exist any more.', code: 'NO_SUCH_TASK' })
  render(<Sample onSubmit={onSubmit} onReload={() => {}} />)
  await submit.click()
  await expect.element(page.getByText('This task does not exist any more.')).toBeVisible()
  await expect.element(page.getByLabelText('Title')).toHaveValue('Mine')
  await expect.element(reload).not.toBeInTheDocument()
  await submit.click()
  await expect.element(page.getByText('This task does not exist any more.')).not.toBeInTheDocument()
})

test('§4 after a stale save a button loads the new version', async () => {
  const onReload = vi.fn<() => void>()
  render(<Sample onSubmit={async () => ({ message: 'Somebody else has changed this.', code: 'STALE' })} onReload={onReload} />)
  await submit.click()
  await reload.click()
  expect(onReload).toHaveBeenCalledOnce()
})

test('§8 an error at a field is not repeated below the form', async () => {
  const refusal = { message: 'The request is not valid.', fields: { title: 'Too long' } }
  render(<Sample onSubmit={async () => refusal} />)
  await submit.click()
  await expect.element(page.getByLabelText('Title')).toHaveAccessibleDescription('Too long')
  await expect.element(page.getByText(refusal.message)).not.toBeInTheDocument()
})

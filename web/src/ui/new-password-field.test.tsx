import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { z } from 'zod'
import { render } from '#src/testing/render.tsx'
import { Form, SubmitButton, TextField, useForm } from './form.tsx'
import { NewPasswordFields } from './new-password-field.tsx'

const schema = z.object({
  fname: z.string(),
  password: z.string().min(6, 'Password must be at least 6 characters'),
  confirmPassword: z.string(),
})

function Sample() {
  const form = useForm(async () => schema, { fname: '', password: '', confirmPassword: '' })
  return (
    <Form form={form} onSubmit={async () => {}} label="Sign up">
      <TextField control={form.control} name="fname" label="First Name" />
      <NewPasswordFields control={form.control} label="Password" known={['fname']} />
      <SubmitButton>Create</SubmitButton>
    </Form>
  )
}

const password = page.getByLabelText('Password', { exact: true })
const hint = page.getByText(/^(Very weak|Weak|Fair|Good|Strong)/)

test('security: a hint rates a new password while it is typed', async () => {
  render(<Sample />)
  await expect.element(hint).not.toBeInTheDocument()
  await password.fill('password')
  await expect.element(hint).toHaveTextContent('Very weak: one of the commonest.')
  await password.fill('correct horse')
  await expect.element(hint).toHaveTextContent('Weak: add words or characters.')
  await password.fill('correct horse battery staple')
  await expect.element(hint).toHaveTextContent('Strong.')
  await expect.element(hint).toHaveAttribute('aria-live', 'polite')
  await password.fill('')
  await expect.element(hint).not.toBeInTheDocument()
})

test('security: the user’s own name does not make a password stronger', async () => {
  render(<Sample />)
  await password.fill('Adalbert-Maximilian')
  await expect.element(hint).toHaveTextContent('Fair: longer is better.')
  await page.getByLabelText('First Name').fill('Adalbert Maximilian')
  await expect.element(hint).toHaveTextContent('Very weak: guessed at once.')
})

test('§5 an error replaces the hint, and the field keeps its height with and without them', async () => {
  render(<Sample />)
  const submit = page.getByRole('button', { name: 'Create' })
  const top = () => submit.element().getBoundingClientRect().top
  const before = top()
  await password.fill('short')
  await expect.element(hint).toBeVisible()
  expect(top()).toBe(before)
  await page.getByLabelText('First Name').click()
  await expect.element(page.getByText('Password must be at least 6 characters')).toBeVisible()
  await expect.element(hint).not.toBeVisible()
  expect(top()).toBe(before)
})

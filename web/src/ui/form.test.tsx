import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { useRef } from 'react'
import { z } from 'zod'
import { render } from '#src/testing/render.tsx'
import { Form, PasswordField, type Refusal, SelectField, SubmitButton, TextareaField, TextField, useForm } from './form.tsx'

const schema = z
  .object({
    email: z.string().min(1, 'Email is required').pipe(z.email('Invalid email address')),
    password: z.string().min(1, 'Password is required').min(6, 'Password must be at least 6 characters'),
    again: z.string(),
    type: z.enum(['desc', 'link'], 'Type is required!'),
    note: z.string().trim().optional(),
  })
  .refine(({ password, again }) => password === again, { path: ['again'], message: 'Passwords must match' })
type Values = z.output<typeof schema>

interface SampleProps {
  onSubmit: (values: Values) => Promise<Refusal | void>
  load?: () => Promise<typeof schema>
}

function Sample({ onSubmit, load = async () => schema }: SampleProps) {
  const form = useForm(load, { email: '', password: '', again: '', note: '' })
  return (
    <Form form={form} onSubmit={onSubmit} label="Sign up">
      <TextField control={form.control} name="email" label="Email" type="email" description="Yours alone" />
      <PasswordField control={form.control} name="password" label="Password" autoComplete="new-password" checks={['again']} />
      <TextField control={form.control} name="again" label="Again" />
      <SelectField
        control={form.control}
        name="type"
        label="Type"
        placeholder="Select a type"
        options={[
          { value: 'desc', label: 'Description' },
          { value: 'link', label: 'Link' },
        ]}
      />
      <TextareaField control={form.control} name="note" label="Note" />
      <SubmitButton>Create</SubmitButton>
    </Form>
  )
}

const field = (label: string) => page.getByLabelText(label)
const email = field('Email')
const password = field('Password')
const type = field('Type')
const submit = page.getByRole('button', { name: 'Create' })

async function fillIn(): Promise<void> {
  await email.fill('ada@gmail.com')
  await password.fill('secret1')
  await field('Again').fill('secret1')
  await type.selectOptions('link')
}

test('a form that is being sent takes no text, which would be lost, and takes it again after a refusal', async () => {
  const answer = Promise.withResolvers<Refusal>()
  render(<Sample onSubmit={() => answer.promise} />)
  await fillIn()
  await field('Note').fill('sent')
  await submit.click()
  await field('Note').click()
  await userEvent.keyboard('late{Backspace}')
  await expect.element(field('Note')).toHaveValue('sent')
  answer.resolve({ message: 'Not now' })
  await expect.element(submit).toHaveAttribute('aria-disabled', 'false')
  await field('Note').click()
  await userEvent.keyboard('{End}, again')
  await expect.element(field('Note')).toHaveValue('sent, again')
})

test('§5 a form that is reset while it is sent shows no errors', async () => {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  function Emptied() {
    const form = useForm(async () => z.object({ email: z.string().min(1, 'Email is required') }), { email: '' })
    const next = useRef<HTMLButtonElement>(null)
    const handleSubmit = async () => {
      form.reset()
      next.current?.focus() // as pages focus the created record
      await sent
    }
    return (
      <>
        <Form form={form} onSubmit={handleSubmit} label="New">
          <TextField control={form.control} name="email" label="Email" />
        </Form>
        <button ref={next}>Next</button>
      </>
    )
  }
  render(<Emptied />)
  await email.fill('ada@gmail.com')
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByRole('button', { name: 'Next' })).toHaveFocus()
  resolve()
  await expect.element(email).toHaveValue('')
  await expect.element(page.getByText('Email is required')).not.toBeInTheDocument()
  await expect.element(email).not.toHaveAttribute('aria-invalid', 'true')
})

test('§5 valid input is passed on as parsed by the schema', async () => {
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await fillIn()
  await field('Note').fill('  two words ')
  await submit.click()
  const values = { email: 'ada@gmail.com', password: 'secret1', again: 'secret1', type: 'link', note: 'two words' }
  await expect.poll(() => onSubmit.mock.calls).toEqual([[values]])
})

test('§5 an error shows only after its field was touched', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await expect.element(page.getByRole('form', { name: 'Sign up' })).not.toMatchTextContent(/is required/)
  await email.click()
  await expect.element(email).not.toHaveAttribute('aria-invalid')
  await password.click()
  await expect.element(email).toHaveAccessibleDescription('Email is required Yours alone')
  await expect.element(email).toHaveAttribute('aria-invalid', 'true')
  await expect.element(password).not.toHaveAttribute('aria-invalid')
})

test('§5 an error is updated while typing and disappears when the value is valid', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await password.click()
  await email.click()
  await expect.element(password).toHaveAccessibleDescription('Password is required')
  await password.fill('12345')
  await expect.element(password).toHaveAccessibleDescription('Password must be at least 6 characters')
  await password.fill('123456')
  await expect.element(password).not.toHaveAttribute('aria-invalid')
})

test('§5 submitting invalid input shows all errors, sends nothing and focuses the first invalid field', async () => {
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await submit.click()
  for (const text of ['Email is required', 'Password is required', 'Type is required!'])
    await expect.element(page.getByText(text)).toBeVisible()
  await expect.element(email).toHaveFocus()
  expect(onSubmit).not.toHaveBeenCalled()
})

test('§5 a field whose rule depends on another one is validated again with it', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await fillIn()
  await field('Again').fill('secret2')
  await submit.click()
  await expect.element(field('Again')).toHaveAccessibleDescription('Passwords must match')
  await password.fill('secret2')
  await expect.element(field('Again')).not.toHaveAttribute('aria-invalid')
})

test('§4 a form is sent once however often it is submitted; the button keeps the focus and says that it is busy', async () => {
  const held = Promise.withResolvers<void>()
  const onSubmit = vi.fn<SampleProps['onSubmit']>(() => held.promise)
  render(<Sample onSubmit={onSubmit} />)
  await fillIn()
  await submit.click()
  await expect.element(submit).toHaveAttribute('aria-disabled', 'true')
  await expect.element(submit).toHaveFocus()
  await submit.click({ force: true })
  await email.click()
  await userEvent.keyboard('{Enter}')
  held.resolve()
  await expect.element(submit).toHaveAttribute('aria-disabled', 'false')
  expect(onSubmit).toHaveBeenCalledOnce()
  await submit.click()
  await expect.poll(() => onSubmit.mock.calls).toHaveLength(2)
})

test('§4 Enter submits in a single-line field, but not in a textarea', async () => {
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await fillIn()
  await field('Note').click()
  await userEvent.keyboard('one{Enter}two')
  await expect.element(field('Note')).toHaveValue('one\ntwo')
  expect(onSubmit).not.toHaveBeenCalled()
  await email.click()
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => onSubmit.mock.calls).toHaveLength(1)
})

test('§8 the server’s messages stand at their fields, the first of these has the focus, and the input is kept', async () => {
  const fields = { password: 'Too common', type: 'Not this one', other: 'No field of this form' }
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {}).mockResolvedValueOnce({ fields })
  render(<Sample onSubmit={onSubmit} />)
  await fillIn()
  await submit.click()
  await expect.element(password).toHaveAccessibleDescription('Too common')
  await expect.element(type).toHaveAccessibleDescription('Not this one')
  await expect.element(password).toHaveFocus()
  await expect.element(email).toHaveValue('ada@gmail.com')
  await submit.click()
  await expect.poll(() => onSubmit.mock.calls).toHaveLength(2)
})

test('§4 a form that was refused can be sent again', async () => {
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {}).mockImplementationOnce(async () => ({ fields: {} }))
  render(<Sample onSubmit={onSubmit} />)
  await fillIn()
  await submit.click()
  await expect.poll(() => onSubmit.mock.calls).toHaveLength(1)
  await submit.click()
  await expect.poll(() => onSubmit.mock.calls).toHaveLength(2)
})

test('§5 the schema is loaded once, on the first focus', async () => {
  const load = vi.fn<() => Promise<typeof schema>>(async () => schema)
  render(<Sample onSubmit={async () => {}} load={load} />)
  await expect.element(email).toBeVisible()
  expect(load).not.toHaveBeenCalled()
  await email.click()
  await password.click()
  await expect.element(email).toHaveAccessibleDescription('Email is required Yours alone')
  expect(load).toHaveBeenCalledOnce()
})

test('§5 a form whose schema cannot be loaded is sent unchecked: the server validates', async () => {
  const onSubmit = vi.fn<SampleProps['onSubmit']>(async () => {})
  render(<Sample onSubmit={onSubmit} load={() => Promise.reject(new TypeError('Failed to fetch'))} />)
  await email.fill('nobody')
  await submit.click()
  await expect.poll(() => onSubmit.mock.calls).toMatchObject([[{ email: 'nobody', password: '' }]])
})

test('§5 a button shows the characters of a password', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await password.fill('secret1')
  await expect.element(password).toHaveAttribute('type', 'password')
  await page.getByRole('button', { name: 'Show characters' }).click()
  await expect.element(password).toHaveAttribute('type', 'text')
})

test('§5 a select starts with its placeholder, which cannot be selected again', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await expect.element(type).toHaveDisplayValue('Select a type')
  await expect.element(page.getByRole('option', { name: 'Select a type' })).toBeDisabled()
})

test('§5 an error does not shift the layout below it', async () => {
  render(<Sample onSubmit={async () => {}} />)
  const top = () => submit.element().getBoundingClientRect().top
  await expect.element(submit).toBeVisible()
  const before = top()
  await email.click()
  await password.click()
  await expect.element(page.getByText('Email is required')).toBeVisible()
  expect(top()).toBe(before)
})

test('§5 an error beside a long label in a narrow column is not squeezed into single words', async () => {
  const narrow = z.object({ limit: z.string().min(1, 'Enter more than 0, or nothing') })
  function Narrow() {
    const form = useForm(async () => narrow, { limit: '' })
    return (
      <div style={{ width: 200 }}>
        <Form form={form} onSubmit={async () => {}} label="Limits">
          <TextField control={form.control} name="limit" label="Most points in one adjustment" />
          <SubmitButton>Create</SubmitButton>
        </Form>
      </div>
    )
  }
  render(<Narrow />)
  await submit.click()
  const error = page.getByText('Enter more than 0, or nothing')
  await expect.element(error).toBeVisible()
  expect(error.element().getBoundingClientRect().width).toBeGreaterThanOrEqual(90)
})

test('§5 an error keeps its distance from the label below it', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await submit.click()
  const error = page.getByText('Password is required')
  await expect.element(error).toBeVisible()
  const below = page.getByText('Again', { exact: true }).element().getBoundingClientRect().top
  expect(below - error.element().getBoundingClientRect().bottom).toBeGreaterThanOrEqual(8)
})

/** Returns the WCAG contrast ratio of two `rgb(…)` colours. */
function contrast(one: string, other: string): number {
  const [light, dark] = [one, other].map(luminance).toSorted((a, b) => b - a)
  return (light! + 0.05) / (dark! + 0.05)
}

function luminance(colour: string): number {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

test.for(['light', 'dark'])('WCAG 1.4.11: the borders of inputs have a contrast of 3:1 in the %s scheme', async (scheme) => {
  render(<Sample onSubmit={async () => {}} />)
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme)
  const input = email.element()
  for (const behind of ['var(--mantine-color-body)', 'var(--app-page)', 'var(--app-surface)']) {
    document.body.style.backgroundColor = behind
    await expect
      .poll(() => contrast(getComputedStyle(input).borderTopColor, getComputedStyle(document.body).backgroundColor))
      .toBeGreaterThanOrEqual(3)
  }
  document.body.style.backgroundColor = ''
  document.documentElement.setAttribute('data-mantine-color-scheme', 'light')
})

test('§4 the loader does not overlap the label of the submit button', async () => {
  const held = Promise.withResolvers<void>()
  render(<Sample onSubmit={() => held.promise} />)
  await fillIn()
  await submit.click()
  await expect.element(submit).toHaveAttribute('aria-disabled', 'true')
  const loader = submit.element().querySelector('.mantine-Loader-root')
  const text = document.createRange()
  text.selectNodeContents(submit.element())
  text.setEndBefore(loader!)
  expect(loader!.getBoundingClientRect().left).toBeGreaterThan(text.getBoundingClientRect().right)
  held.resolve()
  await expect.element(submit).toHaveAttribute('aria-disabled', 'false')
})

function Marked() {
  const form = useForm(async () => z.object({ title: z.string(), subtitle: z.string() }), { title: '', subtitle: '' })
  return (
    <Form form={form} onSubmit={async () => {}} label="Marked">
      <TextField control={form.control} name="title" label="Title" isRequired />
      <TextField control={form.control} name="subtitle" label="Subtitle" countsTo={20} />
    </Form>
  )
}

const markOf = (label: string) => getComputedStyle(page.getByText(label, { exact: true }).element(), '::after')

test('§5 a required field is marked, and its accessible name is only its label', async () => {
  render(<Marked />)
  const title = page.getByRole('textbox', { name: 'Title', exact: true })
  await expect.element(title).toHaveAttribute('aria-required', 'true')
  await expect.element(page.getByRole('textbox', { name: 'Subtitle', exact: true })).not.toHaveAttribute('aria-required')
  expect(markOf('Title').content).toBe('""')
  expect(markOf('Title').display).toBe('inline-block')
  expect(markOf('Subtitle').content).toBe('none')
})

test('§5 required marks stay when the optional fields are removed', async () => {
  function Changing({ isWhole }: { isWhole: boolean }) {
    const form = useForm(async () => z.object({ title: z.string(), note: z.string() }), { title: '', note: '' })
    return (
      <Form form={form} onSubmit={async () => {}} label="Changing">
        <TextField control={form.control} name="title" label="Title" isRequired />
        {isWhole && <TextField control={form.control} name="note" label="Note" />}
      </Form>
    )
  }
  const show = render(<Changing isWhole />)
  await expect.element(page.getByText('Note', { exact: true })).toBeVisible()
  expect(markOf('Title').display).toBe('inline-block')
  show(<Changing isWhole={false} />)
  await expect.element(page.getByText('Note', { exact: true })).not.toBeInTheDocument()
  expect(markOf('Title').display).toBe('inline-block')
})

test('§5 a counter shows the number of characters, and is read aloud near and beyond the limit', async () => {
  render(<Marked />)
  const subtitle = page.getByLabelText('Subtitle', { exact: true })
  await expect.element(page.getByText('0/20')).toBeVisible()
  await subtitle.fill('Fresh')
  await expect.element(page.getByText('5/20')).toBeVisible()
  await expect.element(page.getByText(/characters/)).not.toBeInTheDocument()
  await subtitle.fill('Fresh levels')
  await expect.element(page.getByText('8 characters left')).toBeInTheDocument()
  await subtitle.fill('x'.repeat(22))
  await expect.element(page.getByText('22/20')).toHaveAttribute('data-over', 'true')
  await expect.element(page.getByText('2 characters too many')).toBeInTheDocument()
  await subtitle.fill('x'.repeat(21))
  await expect.element(page.getByText('1 character too many')).toBeInTheDocument()
  await subtitle.fill('x'.repeat(19))
  await expect.element(page.getByText('1 character left')).toBeInTheDocument()
  await subtitle.fill('x'.repeat(22))
  await expect.element(subtitle).toHaveAccessibleName('Subtitle')
  await expect.element(subtitle).not.toHaveAccessibleDescription()
})

test('§9 a counter counts code points of the text as it is kept', async () => {
  render(<Marked />)
  const subtitle = page.getByLabelText('Subtitle', { exact: true })
  await subtitle.fill('😀'.repeat(20))
  await expect.element(page.getByText('20/20')).not.toHaveAttribute('data-over')
  await subtitle.fill(` ${'e\u0301'.repeat(3)} `)
  await expect.element(page.getByText('3/20')).toBeVisible()
  await subtitle.fill('\u200b\u3164')
  await expect.element(page.getByText('0/20')).toBeVisible()
})

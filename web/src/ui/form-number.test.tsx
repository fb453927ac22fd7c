import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { z } from 'zod'
import { render } from '#src/testing/render.tsx'
import { NumberField } from './form-number.tsx'
import { Form, SubmitButton, useForm } from './form.tsx'

const schema = z.object({
  reward: z
    .number({ error: ({ input }) => (input === undefined || input === '' ? 'Reward is required' : 'Reward must be a number') })
    .max(2 ** 53, 'Too much'),
})

type OnSubmit = (values: { reward: number }) => Promise<void>

function Sample({ onSubmit, reward: first }: { onSubmit: OnSubmit; reward?: number }) {
  const form = useForm(async () => schema, first === undefined ? {} : { reward: first })
  return (
    <Form form={form} onSubmit={onSubmit} label="Task">
      <NumberField control={form.control} name="reward" label="Reward" />
      <SubmitButton>Add</SubmitButton>
    </Form>
  )
}

const reward = page.getByLabelText('Reward')
const submit = page.getByRole('button', { name: 'Add' })

test.for([
  ['12.5', 12.5],
  ['0', 0],
  ['007', 7],
  ['2.50', 2.5],
  ['.50', 0.5],
  ['-.50', -0.5],
  ['3.', 3],
  ['-4', -4],
  ['0.0000001', 1e-7],
  ['1e3', 1000],
  ['25E-1', 2.5],
  ['+6', 6],
  ['1,000,000', 1_000_000],
  ['-12,345.5', -12_345.5],
  ['  8 ', 8],
  ['-0', 0],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740992', 2 ** 53],
] as const)('§5 %s is handed over as a number', async ([typed, value]) => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await reward.click()
  await userEvent.keyboard(`${typed}{Enter}`)
  await expect.poll(() => onSubmit.mock.calls).toEqual([[{ reward: value }]])
})

test.for([
  '9007199254740993',
  '0.12345678901234567',
  '1e400',
  '1x3',
  '12,5',
  '1,0000',
  '1,00,000',
  '1.2.3',
  'e3',
  '-',
  '0x10',
  'many',
])('design §5 %s is not made a number of: the text stays, and the form says so', async (typed) => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await reward.click()
  await userEvent.keyboard(typed)
  await submit.click()
  await expect.element(reward).toHaveAccessibleDescription('Reward must be a number')
  await expect.element(reward).toHaveValue(typed)
  expect(onSubmit).not.toHaveBeenCalled()
})

test('§5 the typed text stays while typing, and is formatted on blur', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await reward.click()
  await userEvent.keyboard('02.0')
  await expect.element(reward).toHaveValue('02.0')
  await userEvent.keyboard('50')
  await expect.element(reward).toHaveValue('02.050')
  await submit.click()
  await expect.element(reward).toHaveValue('2.05')
})

test('§5 1e3 is shown as 1000 on blur', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await reward.click()
  await userEvent.keyboard('1e3')
  await expect.element(reward).toHaveValue('1e3')
  await submit.click()
  await expect.element(reward).toHaveValue('1000')
})

test('§5 an empty field is not 0: the schema says that it is required', async () => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} />)
  await reward.fill('5')
  await reward.clear()
  await submit.click()
  await expect.element(reward).toHaveAccessibleDescription('Reward is required')
  expect(onSubmit).not.toHaveBeenCalled()
})

test('§5 an initial number can be cleared, and is then required', async () => {
  const onSubmit = vi.fn<OnSubmit>(async () => {})
  render(<Sample onSubmit={onSubmit} reward={5} />)
  await expect.element(reward).toHaveValue('5')
  await reward.clear()
  await expect.element(reward).toHaveValue('')
  await submit.click()
  await expect.element(reward).toHaveAccessibleDescription('Reward is required')
  expect(onSubmit).not.toHaveBeenCalled()
})

test('§5 an error shows after the field was touched', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await reward.click()
  await expect.element(reward).not.toHaveAttribute('aria-invalid')
  await userEvent.tab()
  await expect.element(reward).toHaveAccessibleDescription('Reward is required')
})

test('§5 a number that the schema refuses shows the schema’s message', async () => {
  render(<Sample onSubmit={async () => {}} />)
  await reward.fill('9007199254740994')
  await submit.click()
  await expect.element(reward).toHaveAccessibleDescription('Too much')
  await expect.element(reward).toHaveFocus()
})

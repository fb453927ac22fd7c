import { ORPCError } from '@orpc/client'
import { expect, test, vi } from 'vitest'
import { asCallError, CallError } from './call-error.ts'
import { client, makeCreateOnce, onRejection } from './client.ts'

test.each([
  ['no answer', new TypeError('Failed to fetch'), true],
  ['a 500', new ORPCError('INTERNAL', { status: 500, data: { success: false, message: 'x', code: 'INTERNAL' } }), true],
  ['a page of a proxy', new ORPCError('INTERNAL', { status: 502, data: '<html>' }), true],
  ['a 409', new ORPCError('INTERNAL', { status: 409, data: { success: false, message: 'x', code: 'STALE' } }), false],
])('§8 %s counts as an exception: %#', (_, error, isException) => {
  expect(asCallError(error).isException).toBe(isException)
})

test('§8 a failure keeps what the server said', () => {
  const body = {
    success: false,
    message: 'Priority is already taken!',
    code: 'PRIORITY_TAKEN',
    fields: { priority: 'Taken' },
    requestId: 'r1',
  }
  const error = asCallError(new ORPCError('INTERNAL', { status: 409, data: body }))
  expect(error).toMatchObject({
    code: 'PRIORITY_TAKEN',
    status: 409,
    message: body.message,
    fields: body.fields,
    requestId: 'r1',
  })
})

test.each([
  ['without a word', () => new Response('', { status: 502 }), 'Error fetching tasks!'],
  ['with a page of HTML', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'Error fetching tasks!'],
  ['with a text of its own', () => Response.json({ success: false, message: 'Too busy' }, { status: 503 }), 'Too busy'],
])('§8 a list that fails %s says what failed', async (_, answer, message) => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => answer())
  await expect(client.socialTasks.list({})).rejects.toMatchObject({ message, isException: true })
})

test('§8 a failed call without an error text of its own says Internal Server Error!', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('', { status: 502 }))
  await expect(client.announcements.get({ id: 'a' })).rejects.toThrow('Internal Server Error!')
})

test('a failed save says whether the connection broke or the browser was offline', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    throw new TypeError('Failed to fetch')
  })
  const task = { type: 'twitter', title: 'Follow us', priority: 1, reward: 5 } as const
  const save = () => client.socialTasks.create(task)
  await expect(save()).rejects.toThrow('The connection is gone, and it is not known whether this was saved.')
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
  await expect(save()).rejects.toThrow('You are offline: nothing was saved.')
  await expect(client.socialTasks.list({})).rejects.toThrow('The server cannot be reached. Please try again.')
  await expect(client.auth.logout()).rejects.toMatchObject({
    code: 'OFFLINE',
    message: 'You are offline. Please try again when the connection is back.',
  })
})

test('§4 a call refused as SIGNED_OUT ends the session; a failed login does not', async () => {
  const refused: string[] = []
  const stop = onRejection(({ code }) => refused.push(code))
  const answers = [
    { status: 401, body: { success: false, message: 'Please sign in.', code: 'SIGNED_OUT' } },
    { status: 401, body: { success: false, message: 'Error logging in!', code: 'LOGIN_FAILED' } },
  ]
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    const { status, body } = answers.shift() ?? { status: 500, body: {} }
    return Response.json(body, { status })
  })
  await expect(client.dashboard.get()).rejects.toThrow(CallError)
  await expect(client.auth.login({ email: 'a@gmail.com', password: 'secret1' })).rejects.toThrow('Error logging in!')
  stop()
  expect(refused).toEqual(['SIGNED_OUT'])
})

test('§7 a form sends the same idempotency key until the server answers, then a new one', async () => {
  const keys: (string | null)[] = []
  const lost = new TypeError('Failed to fetch')
  const refused = Response.json(
    { success: false, message: 'Priority is already taken!', code: 'PRIORITY_TAKEN' },
    { status: 409 },
  )
  const made = () => Response.json({ success: true, id: 'a' })
  const answers = [lost, new Response('', { status: 502 }), refused, made(), made(), made()]
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (request) => {
    keys.push((request as Request).headers.get('idempotency-key'))
    const answer = answers.shift()!
    if (answer instanceof Error) throw answer
    return answer
  })
  const createOnce = makeCreateOnce()
  const task = { type: 'twitter', title: 'Follow us', priority: 1, reward: 5 } as const
  const send = () => createOnce((options) => client.socialTasks.create(task, options)).catch(() => {})
  await send()
  await send()
  await send()
  await Promise.all([send(), send()]) // a double click
  await send()
  expect(keys).toHaveLength(6)
  const [first, second, third, fourth, fifth, sixth] = keys
  expect([second, third]).toEqual([first, first])
  expect(fifth).toBe(fourth)
  expect(new Set([first, fourth, sixth]).size).toBe(3)
  expect(first).toMatch(/^[0-9a-f-]{36}$/)
})

import { describe, expect, test } from 'vitest'
import { auth } from '#src/auth/calls.ts'
import { changed, inputOf, messagesOf, text } from '#src/testing/inputs.ts'
import { registrationInputFor, users, userUpdateInput } from './calls.ts'

const person = { fname: 'Ada', lname: 'Lovelace', email: 'ada@gmail.com', password: 'secret1', confirmPassword: 'secret1' }

describe.for([
  ['the form', registrationInputFor('gmail.com')],
  ['self-registration', inputOf(auth.register)],
  ['POST /registerUser', inputOf(users.create)],
] as const)('§5 registration, %s', ([, schema]) => {
  test.for([
    {},
    { fname: ' O’Neil-Ø 李 ' },
    { fname: text(100), lname: text(100) },
    { email: 'ADA@GMAIL.COM' },
    { password: '123456', confirmPassword: '123456' },
  ])('%j is accepted', (changes) => {
    expect(messagesOf(schema, changed(person, changes))).toEqual({})
  })

  test.for([
    [{ fname: '' }, { fname: 'First Name is required' }],
    [{ fname: '  ' }, { fname: 'First Name is required' }],
    [{ fname: undefined }, { fname: 'First Name is required' }],
    [{ fname: text(101) }, { fname: 'First Name must be at most 100 characters' }],
    [{ lname: '' }, { lname: 'Last Name is required' }],
    [{ lname: null }, { lname: 'Last Name is required' }],
    [{ lname: text(101) }, { lname: 'Last Name must be at most 100 characters' }],
    [{ email: '' }, { email: 'Email is required' }],
    [{ email: 'nobody' }, { email: 'Invalid email address' }],
    [
      { password: '', confirmPassword: '' },
      { password: 'Password is required', confirmPassword: 'Confirm Password is required' },
    ],
    [{ password: '12345', confirmPassword: '12345' }, { password: 'Password must be at least 6 characters' }],
    [{ confirmPassword: 'secret2' }, { confirmPassword: 'Passwords must match' }],
    [{ confirmPassword: 'Secret1' }, { confirmPassword: 'Passwords must match' }],
    [{ confirmPassword: '' }, { confirmPassword: 'Confirm Password is required' }],
    [{ confirmPassword: undefined }, { confirmPassword: 'Confirm Password is required' }],
  ] as const)('%j is refused with %j', ([changes, messages]) => {
    expect(messagesOf(schema, changed(person, changes))).toEqual(messages)
  })

  test('all errors are returned at once', () => {
    expect(messagesOf(schema, { ...person, fname: '', lname: '', password: '12345' })).toEqual({
      fname: 'First Name is required',
      lname: 'Last Name is required',
      password: 'Password must be at least 6 characters',
      confirmPassword: 'Passwords must match',
    })
  })

  test('§6 nobody registers as an admin', () => {
    expect(messagesOf(schema, { ...person, userType: 'admin' })).toHaveProperty([''])
  })
})

describe('§5 the e-mail’s host', () => {
  test.for([
    ['gmail.com', 'ada@gmail.com'],
    ['gmail.com', 'Ada@GMail.Com '],
    ['Example.org', 'ada@example.org'],
  ] as const)('of %s: %s', ([host, email]) => {
    expect(messagesOf(registrationInputFor(host), { ...person, email })).toEqual({})
  })

  test.for([
    ['gmail.com', 'ada@example.org', 'Email must be a @gmail.com'],
    ['gmail.com', 'ada@notgmail.com', 'Email must be a @gmail.com'],
    ['gmail.com', 'ada@gmail.com.evil.org', 'Email must be a @gmail.com'],
    ['gmail.com', 'ada@mail.gmail.com', 'Email must be a @gmail.com'],
    ['example.org', 'ada@gmail.com', 'Email must be a @example.org'],
    ['gmail.com', 'ada@', 'Invalid email address'],
  ] as const)('not of %s: %s', ([host, email, message]) => {
    expect(messagesOf(registrationInputFor(host), { ...person, email })).toEqual({ email: message })
  })
})

describe('§5 user update', () => {
  const update = { id: 'u1', fname: 'Ada', lname: 'Lovelace', version: 1 }

  test.for([{}, { version: undefined }, { fname: ' Ada ' }])('%j is accepted', (changes) => {
    expect(messagesOf(inputOf(users.update), changed(update, changes))).toEqual({})
  })

  test.for([
    [{ fname: ' ' }, { fname: 'First Name is required' }],
    [{ lname: undefined }, { lname: 'Last Name is required' }],
    [
      { fname: '', lname: '' },
      { fname: 'First Name is required', lname: 'Last Name is required' },
    ],
  ] as const)('%j is refused with %j', ([changes, messages]) => {
    expect(messagesOf(inputOf(users.update), changed(update, changes))).toEqual(messages)
  })

  test.for([{ email: 'other@gmail.com' }, { userType: 'admin' }, { version: 0 }, { version: 1.5 }, { id: '' }])(
    'e-mail and type cannot be changed by an update, and the version must be valid: %j',
    (changes) => {
      expect(messagesOf(inputOf(users.update), { ...update, ...changes })).not.toEqual({})
    },
  )

  test('names are trimmed', () => {
    expect(userUpdateInput.parse({ fname: ' Ada ', lname: '\tLovelace\n' })).toEqual({ fname: 'Ada', lname: 'Lovelace' })
  })
})

test.for([
  ['admin', true],
  ['user', true],
  ['owner', false],
  ['', false],
  [undefined, false],
] as const)('§3 the user type %s is valid: %s', ([userType, isValid]) => {
  expect(inputOf(users.setUserType).safeParse({ id: 'u1', userType }).success).toBe(isValid)
})

import { describe, expect, test } from 'vitest'
import { auth, loginInput } from './calls.ts'
import { changed, inputOf, messagesOf, text } from '#src/testing/inputs.ts'

const login = { email: 'ada@gmail.com', password: 'secret1' }

describe.for([
  ['the form', loginInput],
  ['the call', inputOf(auth.login)],
] as const)('§5 login, %s', ([, schema]) => {
  test.for([
    {},
    { email: ' Ada@Gmail.com ' },
    { email: "o'neil+tag@sub.example.co.uk" },
    { password: '123456' },
    { password: ' spaces ' },
    { password: '密码密码密码' },
    { password: text(128) },
  ])('%j is accepted', (changes) => {
    expect(messagesOf(schema, changed(login, changes))).toEqual({})
  })

  test.for([
    [{ email: '' }, { email: 'Email is required' }],
    [{ email: '   ' }, { email: 'Email is required' }],
    [{ email: undefined }, { email: 'Email is required' }],
    [{ email: null }, { email: 'Email is required' }],
    [{ email: 7 }, { email: 'Email is required' }],
    [{ email: 'nobody' }, { email: 'Invalid email address' }],
    [{ email: 'a@b' }, { email: 'Invalid email address' }],
    [{ email: 'two words@gmail.com' }, { email: 'Invalid email address' }],
    [{ email: 'a@gmail.com,b@gmail.com' }, { email: 'Invalid email address' }],
    [{ email: 'a@@gmail.com' }, { email: 'Invalid email address' }],
    [{ email: '.a@gmail.com' }, { email: 'Invalid email address' }],
    [{ email: `${text(250)}@gmail.com` }, { email: 'Email must be at most 254 characters' }],
    [{ password: '' }, { password: 'Password is required' }],
    [{ password: undefined }, { password: 'Password is required' }],
    [{ password: 123_456 }, { password: 'Password is required' }],
    [{ password: '12345' }, { password: 'Password must be at least 6 characters' }],
    [{ password: text(129) }, { password: 'Password must be at most 128 characters' }],
    [
      { email: '', password: '' },
      { email: 'Email is required', password: 'Password is required' },
    ],
  ] as const)('%j is refused with %j', ([changes, messages]) => {
    expect(messagesOf(schema, changed(login, changes))).toEqual(messages)
  })

  test('unknown fields are refused', () => {
    expect(messagesOf(schema, { ...login, userType: 'admin' })).toHaveProperty([''])
  })
})

test('§5 an e-mail is trimmed, a password is not', () => {
  expect(loginInput.parse({ email: ' Ada@gmail.com ', password: ' secret ' })).toEqual({
    email: 'Ada@gmail.com',
    password: ' secret ',
  })
})

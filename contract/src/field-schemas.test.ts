/** The fields of forms and calls apply the rules for typed texts (§5). */
import { describe, expect, test } from 'vitest'
import { announcementInput } from '#src/announcements/calls.ts'
import { emailField, linkField, newPasswordField, passwordField, textField } from './field-schemas.ts'
import { FAMILY, HEART, invisible, PERSIAN } from '#src/testing/invisible.ts'
import { characterCount } from './text.ts'
import { registrationInput } from '#src/users/calls.ts'

const title = textField('Title', 60)
const messageOf = (result: { error?: { issues: { message: string }[] } | undefined }) => result.error?.issues[0]?.message

test.each(invisible)('§5 a title of nothing but %s is missing, and a link loses it', (_, character) => {
  expect(messageOf(title.safeParse(` ${character}${character}`))).toBe('Title is required')
  expect(linkField.parse(`https://t.me/arcade${character}`)).toBe('https://t.me/arcade')
  expect(linkField.parse(character)).toBe('')
  expect(emailField.parse(`${character}ada@gmail.com${character}`)).toBe('ada@gmail.com')
})

test('§5 what a title needs stays in it', () => {
  for (const text of [PERSIAN, FAMILY, HEART]) expect(title.parse(` ${text} `)).toBe(text)
})

test('§5 the other characters of a link are checked as before', () => {
  expect(messageOf(linkField.safeParse('https://t.me/a b'))).toBe('Invalid URL format')
  expect(messageOf(linkField.safeParse('https://t.me/a\nb'))).toBe('Invalid URL format')
})

test.each(['abc', '😀'.repeat(60), HEART.repeat(30), PERSIAN, 'x\ud800'])('§9 a limit counts code points: %s', (text) => {
  const count = characterCount(text)
  expect(textField('Title', count).safeParse(text).success).toBe(true)
  expect(textField('Title', count - 1).safeParse(text).success).toBe(false)
})

test('§9 a subtitle may have 60 emoji, and a limit counts letters with accents once', () => {
  const announcement = { type: 'desc', title: 'News', subtitle: '😀'.repeat(60), reward: 1 }
  expect(announcementInput.safeParse(announcement).success).toBe(true)
  expect(announcementInput.safeParse({ ...announcement, subtitle: '😀'.repeat(61) }).success).toBe(false)
  expect(textField('Title', 3).parse('e\u0301'.repeat(3))).toBe('\xe9\xe9\xe9')
})

describe('§5 passwords', () => {
  test('a new password is kept and counted in NFC, one to sign in with as typed', () => {
    expect(newPasswordField.parse('pa\u0301ssword')).toBe('p\xe1ssword')
    expect(messageOf(newPasswordField.safeParse('e\u0301'.repeat(3)))).toBe('Password must be at least 6 characters')
    expect(passwordField.parse('pa\u0301ssword')).toBe('pa\u0301ssword')
  })

  test('a new password of invisible characters alone is missing', () => {
    for (const password of ['\u200b'.repeat(6), ' '.repeat(6)])
      expect(messageOf(newPasswordField.safeParse(password))).toBe('Password is required')
  })

  test('two passwords that look equal match', () => {
    const registration = { fname: 'Ada', lname: 'Lovelace', email: 'ada@gmail.com', password: 'pa\u0301ssword' }
    expect(registrationInput.safeParse({ ...registration, confirmPassword: 'p\xe1ssword' }).success).toBe(true)
    expect(messageOf(registrationInput.safeParse({ ...registration, confirmPassword: 'password' }))).toBe('Passwords must match')
  })
})

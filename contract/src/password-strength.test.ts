import { expect, test } from 'vitest'
import commonPasswords from './common-passwords.json' with { type: 'json' }
import { passwordStrength, strictPasswordProblem } from './password-strength.ts'

test('security: the list has the 3,000 most common passwords of the strict policy’s minimum length', () => {
  expect(new Set(commonPasswords).size).toBe(3000)
  for (const password of commonPasswords) {
    expect(password.length).toBeGreaterThanOrEqual(8)
    expect(password).toBe(password.toLowerCase())
  }
  expect(commonPasswords.slice(0, 3)).toEqual(['password', '12345678', '123456789'])
})

test.each([
  ['secret1', 'Password must be at least 8 characters'],
  ['password', 'This password is one of the 3,000 commonest. Please choose another one.'],
  ['PassWord1', 'This password is one of the 3,000 commonest. Please choose another one.'],
  ['correct horse', undefined],
  ['x9#Lq2!v', undefined],
])('security: the strict policy says of %s: %s', (password, problem) => {
  expect(strictPasswordProblem(password)).toBe(problem)
})

const known = ['Adalbert', 'Lovelace', 'adalbert.l@gmail.com']

test.each([
  ['password', 0],
  ['P@ssw0rd', 0],
  ['Password2024!', 0],
  ['123456', 0],
  ['aaaaaaaaaaaaaaaaaaaa', 0],
  ['abcdefghijkl', 0],
  ['qwertzuiop', 0],
  ['adalbert', 0],
  ['Lovelace1984', 0],
  ['secret1', 0],
  ['hahahahaha', 0],
  ['monkeys9', 1],
  ['Summer2024', 1],
  ['correct horse', 1],
  ['k7#Vq2!x', 2],
  ['correct horse battery', 2],
  ['k7#Vq2!xTz9', 2],
  ['correct horse battery staple', 4],
  ['k7#Vq2!xTz9$wR', 3],
])('security: the strength of %s is %i', (password, score) => {
  expect(passwordStrength(password, known).score).toBe(score)
})

test('security: the hint says why a password is weak', () => {
  expect(passwordStrength('password1', []).text).toBe('Very weak: one of the commonest.')
  expect(passwordStrength('x', []).text).toBe('Very weak: guessed at once.')
})

test('security: the longest password is rated without delay', () => {
  expect(passwordStrength('aZ9$ü'.repeat(26).slice(0, 128), known).score).toBeLessThanOrEqual(4)
})

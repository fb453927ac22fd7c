import { afterEach, expect, test, vi } from 'vitest'
import { beginVisit, endVisit, forgetSearch, keepSearch, keptSearch, subscribeToVisit } from './visit.ts'

afterEach(endVisit)

test('Visit: a page comes back as it was last shown; a page that was not shown has no parameters', () => {
  keepSearch('/users', { q: 'ada' })
  keepSearch('/users', { q: 'bo', page: 2 })
  expect(keptSearch('/users')).toEqual({ q: 'bo', page: 2 })
  expect(keptSearch('/users')).toBe(keptSearch('/users'))
  expect(keptSearch('/tasks')).toBeUndefined()
  forgetSearch('/users')
  expect(keptSearch('/users')).toBeUndefined()
})

test('Visit: lasts while the same person signs in again, and ends when another one does', () => {
  beginVisit('ada')
  keepSearch('/users', { q: 'ada' })
  beginVisit('ada')
  expect(keptSearch('/users')).toEqual({ q: 'ada' })
  beginVisit('bo')
  expect(keptSearch('/users')).toBeUndefined()
})

test('Visit: links learn of every change', () => {
  const listener = vi.fn<() => void>()
  const stop = subscribeToVisit(listener)
  keepSearch('/users', { q: 'ada' })
  endVisit()
  expect(listener).toHaveBeenCalledTimes(2)
  stop()
  keepSearch('/users', {})
  expect(listener).toHaveBeenCalledTimes(2)
})

import { IconUser } from '@tabler/icons-react'
import { afterEach, expect, test, vi } from 'vitest'
import {
  beginVisit,
  endVisit,
  forgetOpened,
  forgetSearch,
  keepOpened,
  keepPageSize,
  keepSearch,
  keptPageSize,
  keptSearch,
  lastSearch,
  openedBefore,
  subscribeToVisit,
} from './visit.ts'

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

let reloads = 0

/** Loads the module again, as a reload of the page does. */
async function reloaded(userId: string) {
  reloads += 1
  const visit = (await import(/* @vite-ignore */ `./visit.ts?reload=${reloads}`)) as typeof import('./visit.ts')
  visit.beginVisit(userId)
  return visit
}

test('Visit: after a reload the same person’s way back is still known; another person’s is not', async () => {
  beginVisit('ada')
  keepSearch('/users', { q: 'ada' })
  expect(lastSearch('/users')).toEqual({ q: 'ada' })
  const visit = await reloaded('ada')
  expect(visit.keptSearch('/users')).toBeUndefined()
  expect(visit.lastSearch('/users')).toEqual({ q: 'ada' })
  visit.keepSearch('/tasks', {})
  expect((await reloaded('ada')).lastSearch('/users')).toEqual({ q: 'ada' })
  expect((await reloaded('bo')).lastSearch('/users')).toBeUndefined()
})

test('Visit: a log-out deletes what the browser keeps of the visit', async () => {
  beginVisit('ada')
  keepSearch('/users', { q: 'ada' })
  endVisit()
  expect(JSON.stringify(sessionStorage)).not.toContain('ada')
  expect((await reloaded('ada')).lastSearch('/users')).toBeUndefined()
})

test('Visit: a page size that was chosen is the person’s own, also after a log-out', async () => {
  beginVisit('ada')
  keepPageSize('players', 25)
  endVisit()
  expect(keptPageSize('players')).toBe(25)
  expect((await reloaded('ada')).keptPageSize('players')).toBe(25)
  expect((await reloaded('bo')).keptPageSize('players')).toBeUndefined()
  beginVisit('bo')
  expect(keptPageSize('players')).toBeUndefined()
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

test('Palette: the five that were opened last are kept, each once, until the person logs out or another one signs in', () => {
  const open = (id: string) => keepOpened({ id, label: id, Icon: IconUser, to: `/${id}` })
  const ids = () => openedBefore().map(({ id }) => id)
  beginVisit('ada')
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'b']) open(id)
  expect(ids()).toEqual(['b', 'f', 'e', 'd', 'c'])
  forgetOpened('f')
  expect(ids()).toEqual(['b', 'e', 'd', 'c'])
  beginVisit('ada')
  expect(ids()).toHaveLength(4)
  beginVisit('bo')
  expect(ids()).toEqual([])
  open('a')
  endVisit()
  expect(ids()).toEqual([])
})

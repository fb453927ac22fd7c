/** What the pages of the management need (§6): the address decides, and an unknown page opens for nobody. */
import { expect, test } from 'vitest'
import { neededAt, pageNeeds } from './pages.ts'
import { permissions } from '#src/team/permissions.ts'

test.each([
  ['/social-tasks', 'tasks.read'],
  ['/social-tasks?q=x&page=2', 'tasks.read'],
  ['/social-tasks/', 'tasks.read'],
  ['/Social-Tasks', 'tasks.read'],
  ['/social-tasks-form', 'tasks.write'],
  ['/social-tasks-form-update?id=1', 'tasks.write'],
  ['/update-user/1/Ada/Admin/ada%40gmail.com', 'users.write'],
  ['/broadcasts', 'broadcasts.read'],
  ['/broadcasts/4711', 'broadcasts.read'],
  ['/broadcasts/new?announcement=1', 'broadcasts.write'],
  ['/social-tasks-form-of-mine', undefined],
  ['/no/such/page', undefined],
  ['/', undefined],
])('§6 the page at %s needs %s', (address, needs) => {
  expect(neededAt(address)).toEqual(needs)
})

test('§6 every page names permissions that there are', () => {
  expect(permissions).toEqual(expect.arrayContaining(Object.values(pageNeeds).flat()))
})

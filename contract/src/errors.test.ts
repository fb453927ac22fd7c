import { expect, test } from 'vitest'
import { errorCatalogue } from './errors.ts'

test.for([
  ['Error creating user!', 409],
  ['Error logging in!', 401],
  ['No such document!', 403],
  ['Error logging out!', 500],
  ['Error fetching users!', 500],
  ['Priority is already taken!', 409],
  ['Internal Server Error!', 500],
  ['No tasks found!', 404],
  ['Error fetching tasks!', 500],
  ['No annoucements found!', 404], // sic
  ['Error fetching annoucements!', 500], // sic
  ['Error calculating metrics', 500],
  ['Announcement not found', 404],
] as const)('§8 %s is answered with %i', ([message, status]) => {
  expect(Object.values(errorCatalogue)).toContainEqual({ status, message })
})

test.for(Object.entries(errorCatalogue))(
  '%s has a stable name, a status of a failure and a sentence',
  ([code, { status, message }]) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
    expect(message).toMatch(/^[A-Z].*[\w)][.!]?$/)
  },
)

test('an unexpected failure does not reveal its cause', () => {
  expect(errorCatalogue.INTERNAL).toEqual({ status: 500, message: 'Internal Server Error!' })
})

test.for([
  ['SIGNED_OUT', 401],
  ['FORBIDDEN', 403],
  ['CROSS_ORIGIN', 403],
  ['NOT_FOUND', 404],
  ['METHOD_NOT_ALLOWED', 405],
  ['STALE', 409],
  ['TOO_LARGE', 413],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['TOO_MANY_ATTEMPTS', 429],
  ['UNAVAILABLE', 503],
  ['DISK_FULL', 507],
] as const)('RFC 9110 %s is %i', ([code, status]) => {
  expect(errorCatalogue[code].status).toBe(status)
})

/** When, for whom and how often an item can be claimed (design §7): the rules of the inputs. */
import { expect, test } from 'vitest'
import { announcementInput, announcements } from '#src/announcements/calls.ts'
import { socialTasks, taskInputFor } from '#src/tasks/calls.ts'
import { changed, inputOf, messagesOf } from '#src/testing/inputs.ts'

const task = { priority: 1, type: 'twitter', title: 'Follow', reward: 10 }
const announcement = { type: 'desc', title: 'T', subtitle: 'S', reward: 10 }
const forms = [
  ['a new task', taskInputFor('social'), task],
  ['a changed task', inputOf(socialTasks.update), { ...task, id: 'a' }],
  ['a new announcement', announcementInput, announcement],
  ['a changed announcement', inputOf(announcements.update), { ...announcement, id: 'a' }],
] as const

const accepted: object[] = [
  {},
  { startsAt: null, endsAt: null, maxParticipants: null, dailyBudget: null, segmentId: null },
  { startsAt: '2026-05-01T18:00:00Z', endsAt: '2026-05-01T18:00:00.001Z' },
  { startsAt: '2026-05-01T20:00:00+02:00', endsAt: '2026-05-01T18:01:00Z' },
  { startsAt: '2000-01-01T00:00:00Z', endsAt: '2099-12-31T23:59:59.999Z' },
  { startsAt: '2026-05-01T18:00:00Z', endsAt: null },
  { maxParticipants: 1, dailyBudget: 10 },
  { maxParticipants: 2_000_000_000, dailyBudget: 10.5, segmentId: 'v' },
]

const YEARS = 'must be in the years 2000 to 2099'
const FORM = 'must be a time with its offset, such as 2026-05-01T18:00:00Z'
const PLACES = 'Most Participants must be a whole number from 1 to 2000000000'
const BUDGET = 'Daily Budget must be above 0 and at most 9007199254740992'
const refused: [object, Record<string, string>][] = [
  [{ startsAt: '2026-05-01T18:00:00' }, { startsAt: `Starts At ${FORM}` }],
  [
    { startsAt: '2026-02-30T18:00:00Z', endsAt: 'soon' },
    { startsAt: `Starts At ${FORM}`, endsAt: `Ends At ${FORM}` },
  ],
  [{ startsAt: 1_777_658_400_000 }, { startsAt: `Starts At ${FORM}` }],
  [
    { startsAt: '1999-12-31T23:59:59Z', endsAt: '2100-01-01T00:00:00Z' },
    { startsAt: `Starts At ${YEARS}`, endsAt: `Ends At ${YEARS}` },
  ],
  [{ startsAt: '2026-05-01T18:00:00Z', endsAt: '2026-05-01T18:00:00Z' }, { endsAt: 'Ends At must be after Starts At' }],
  [{ startsAt: '2026-05-01T18:00:00Z', endsAt: '2026-05-01T19:00:00+02:00' }, { endsAt: 'Ends At must be after Starts At' }],
  [{ maxParticipants: 0 }, { maxParticipants: PLACES }],
  [{ maxParticipants: 1.5 }, { maxParticipants: PLACES }],
  [{ maxParticipants: 2_000_000_001 }, { maxParticipants: PLACES }],
  [{ maxParticipants: '5' }, { maxParticipants: PLACES }],
  [{ dailyBudget: 0 }, { dailyBudget: BUDGET }],
  [{ dailyBudget: 9.99 }, { dailyBudget: 'Daily Budget must be at least the reward' }],
  [{ dailyBudget: 10.123456789 }, { dailyBudget: 'Daily Budget must have at most 8 decimals' }],
]

test.for(forms)('design §7 %s: dates, limits and segment', ([, schema, input]) => {
  for (const changes of accepted) expect(messagesOf(schema, changed(input, changes)), JSON.stringify(changes)).toEqual({})
  for (const [changes, messages] of refused)
    expect(messagesOf(schema, changed(input, changes)), JSON.stringify(changes)).toEqual(messages)
  // Other errors of the form hide none of these.
  const both = changed(input, { title: '', endsAt: '2026-05-01T18:00:00Z', startsAt: '2026-05-02T18:00:00Z' })
  expect(Object.keys(messagesOf(schema, both)).toSorted()).toEqual(['endsAt', 'title'])
})

test('design §7 only tasks can be paused', () => {
  expect(messagesOf(taskInputFor('daily'), changed(task, { type: 'telegram', paused: true }))).toEqual({})
  expect(messagesOf(taskInputFor('daily'), changed(task, { type: 'telegram', paused: 'yes' }))).toEqual({
    paused: 'Paused must be true or false',
  })
  expect(messagesOf(announcementInput, { ...announcement, paused: true })).not.toEqual({})
})

test('design §7 dates are moved by days of a zone, and by minutes', () => {
  const messages = (changes: object) => messagesOf(inputOf(announcements.shift), { target: { ids: ['a'] }, ...changes })
  for (const changes of [
    { days: 7 },
    { days: -1, zone: 'Europe/Berlin' },
    { minutes: 90 },
    { days: 1, minutes: -30, zone: 'Etc/GMT+5' },
  ])
    expect(messages(changes), JSON.stringify(changes)).toEqual({})
  expect(messages({})).toEqual({ days: 'Say by how many days or minutes' })
  for (const zone of ['Mars/Olympus', '+02:00', 'Europe/Berlin; drop', '../UTC'])
    expect(messages({ days: 1, zone }), zone).toEqual({ zone: 'There is no such time zone' })
  for (const changes of [{ days: 1.5 }, { days: 3661 }, { minutes: 5_270_401 }])
    expect(Object.keys(messages(changes)), JSON.stringify(changes)).toEqual(Object.keys(changes))
})

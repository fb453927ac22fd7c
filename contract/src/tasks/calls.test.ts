import { describe, expect, test } from 'vitest'
import { hasLink, taskCollections, taskTypeLabels } from './fields.ts'
import { changed, inputOf, messagesOf, text } from '#src/testing/inputs.ts'
import { dailyTasks, socialTasks, taskInputFor } from './calls.ts'

const input = { priority: 3, type: 'twitter', title: 'Follow us', link: 'https://x.com/arcade', reward: 12.5 }
const update = { ...input, id: 't1', version: 4 }

describe.for([
  ['social, the form', taskInputFor('social'), input],
  ['social, create', inputOf(socialTasks.create), input],
  ['social, update', inputOf(socialTasks.update), update],
  ['daily, the form', taskInputFor('daily'), input],
  ['daily, create', inputOf(dailyTasks.create), input],
  ['daily, update', inputOf(dailyTasks.update), update],
] as const)('§5 task, %s', ([, schema, valid]) => {
  test.for([
    {},
    { priority: 0 },
    { priority: -1 },
    { priority: 1.5 },
    { priority: 2 ** 53 },
    { reward: 0 },
    { reward: 0.000_001 },
    { reward: 0.000_000_01 },
    { link: '' },
    { link: '  ' },
    { link: undefined },
    { link: 'http://localhost:8080/a?b=c#d' },
    { link: ' HTTPS://X.COM ' },
    { title: text(200) },
    { type: 'moreLink' },
  ])('%j is accepted', (changes) => {
    expect(messagesOf(schema, changed(valid, changes))).toEqual({})
  })

  test.for([
    [{ priority: undefined }, { priority: 'Priority is required' }],
    [{ priority: null }, { priority: 'Priority is required' }],
    [{ priority: '' }, { priority: 'Priority is required' }],
    [{ priority: '3' }, { priority: 'Priority must be a number' }],
    [{ priority: 'many' }, { priority: 'Priority must be a number' }],
    [{ priority: '99999999999999999999' }, { priority: 'Priority must be between -9007199254740992 and 9007199254740992' }],
    [{ priority: '-1e400' }, { priority: 'Priority must be between -9007199254740992 and 9007199254740992' }],
    [{ priority: '9007199254740993' }, { priority: 'Priority must be between -9007199254740992 and 9007199254740992' }],
    [{ priority: '0.12345678901234567' }, { priority: 'Priority has more digits than can be kept' }],
    [{ priority: '1 000' }, { priority: 'Priority must be written without commas or spaces, like 1000 or 2.5' }],
    [{ priority: '1.2.3' }, { priority: 'Priority must be a number' }],
    [{ priority: Number.NaN }, { priority: 'Priority must be a number' }],
    [{ type: undefined }, { type: 'Type is required' }],
    [{ type: '' }, { type: 'Type is required' }],
    [{ type: 'Twitter' }, { type: 'Type is required' }],
    [{ title: undefined }, { title: 'Title is required' }],
    [{ title: ' ' }, { title: 'Title is required' }],
    [{ title: text(201) }, { title: 'Title must be at most 200 characters' }],
    [{ link: 'nonsense' }, { link: 'Invalid URL format' }],
    [{ link: 'www.example.org' }, { link: 'Invalid URL format' }],
    [{ link: 'https://' }, { link: 'Invalid URL format' }],
    [{ link: 'https://a b.org' }, { link: 'Invalid URL format' }],
    [{ link: 'ftp://example.org' }, { link: 'Invalid URL format' }],
    [{ link: 'javascript:alert(1)' }, { link: 'Invalid URL format' }],
    [{ link: 'data:text/html,x' }, { link: 'Invalid URL format' }],
    [{ link: 7 }, { link: 'Invalid URL format' }],
    [{ link: `https://x.com/${text(2048)}` }, { link: 'Link must be at most 2048 characters' }],
    [{ reward: undefined }, { reward: 'Reward is required' }],
    [{ reward: null }, { reward: 'Reward is required' }],
    [{ reward: 0.1 + 0.2 }, { reward: 'Reward must have at most 8 decimals' }],
    [{ reward: 1e-9 }, { reward: 'Reward must have at most 8 decimals' }],
    [{ reward: 'a lot' }, { reward: 'Reward must be a number' }],
    [{ reward: '1,000' }, { reward: 'Reward must be written without commas or spaces, like 1000 or 2.5' }],
    [{ reward: '1.000,50' }, { reward: 'Reward must be written without commas or spaces, like 1000 or 2.5' }],
    [{ reward: '1e400' }, { reward: 'Reward must be at most 9007199254740992' }],
    [{ reward: '-1e400' }, { reward: 'Reward must be 0 or more' }],
    [{ reward: -0.01 }, { reward: 'Reward must be 0 or more' }],
    [{ reward: Number.POSITIVE_INFINITY }, { reward: 'Reward must be a number' }],
    [
      { priority: undefined, type: undefined, title: '', link: 'x', reward: undefined },
      {
        priority: 'Priority is required',
        type: 'Type is required',
        title: 'Title is required',
        link: 'Invalid URL format',
        reward: 'Reward is required',
      },
    ],
  ] as const)('%j is refused with %j', ([changes, messages]) => {
    expect(messagesOf(schema, changed(valid, changes))).toEqual(messages)
  })

  test.for(['priority', 'reward'] as const)('design §5 a %s beyond 2^53 is refused', (name) => {
    for (const value of [2 ** 53 + 2, -(2 ** 53) - 2, 1e300])
      expect(Object.keys(messagesOf(schema, changed(valid, { [name]: value })))).toEqual([name])
  })

  test.for([{ collection: 'daily' }, { numberOfParticipants: 5 }, { image: 'twitter' }])(
    'the unknown field %j is refused',
    (extra) => {
      expect(messagesOf(schema, { ...valid, ...extra })).toHaveProperty([''])
    },
  )
})

describe('§5 types', () => {
  const types = {
    social: ['twitter', 'instagram', 'linkedin', 'discord', 'youtube', 'moreLink', 'email', 'bsc'],
    daily: ['telegram', 'twitter', 'instagram', 'youtube', 'moreLink'],
  } as const
  const every = [...new Set(Object.values(types).flat())]

  test.for(['social', 'daily'] as const)('a %s task has exactly these types, in this order', (collection) => {
    expect(taskCollections[collection].types).toEqual(types[collection])
    for (const type of every) {
      const isAllowed = (types[collection] as readonly string[]).includes(type)
      expect(messagesOf(taskInputFor(collection), { ...input, type }), type).toEqual(
        isAllowed ? {} : { type: 'Type is required' },
      )
    }
  })

  test('every type has a label', () => {
    expect(Object.keys(taskTypeLabels).toSorted()).toEqual(every.toSorted())
    expect(taskTypeLabels).toMatchObject({ moreLink: 'Website', bsc: 'Bsc Wallet Address' })
  })

  test('email and bsc have no link', () => {
    expect(every.filter((type) => !hasLink(type))).toEqual(['email', 'bsc'])
  })
})

test('§2 both collections have their titles and paths', () => {
  expect(taskCollections.social).toMatchObject({ title: 'Social Tasks', path: '/social-tasks' })
  expect(taskCollections.daily).toMatchObject({ title: 'Daily Tasks', path: '/daily-tasks' })
})

describe('reordering by hand', () => {
  const reorder = inputOf(socialTasks.reorder)
  const tasks = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `t${n}`, priority: n }))

  test.for([
    [0, false],
    [1, false],
    [2, true],
    [1000, true],
    [1001, false],
  ] as const)('%i tasks are accepted: %s', ([count, isValid]) => {
    expect(reorder.safeParse({ tasks: tasks(count) }).success).toBe(isValid)
  })

  test('a task without its priority is refused', () => {
    expect(messagesOf(reorder, { tasks: [...tasks(2), { id: 't9' }] })).toEqual({ 'tasks.2.priority': 'Priority is required' })
  })
})

describe('renumbering', () => {
  const valid = { target: { ids: ['t1'] }, first: 10, step: 5 }

  test.for([
    [{ step: 0 }, { step: 'Step must be above 0' }],
    [{ step: -1 }, { step: 'Step must be above 0' }],
    [{ step: undefined }, { step: 'Step is required' }],
    [{ first: undefined }, { first: 'First Priority is required' }],
    [{ first: 'x' }, { first: 'First Priority must be a number' }],
  ] as const)('%j is refused with %j', ([changes, messages]) => {
    expect(messagesOf(inputOf(socialTasks.prioritise), changed(valid, changes))).toEqual(messages)
  })

  test.for([{}, { first: -5 }, { step: 0.5 }, { dryRun: true }, { expected: 0 }])('%j is accepted', (changes) => {
    expect(messagesOf(inputOf(dailyTasks.prioritise), changed(valid, changes))).toEqual({})
  })
})

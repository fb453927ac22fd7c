import { describe, expect, test } from 'vitest'
import { announcements } from '#src/announcements/calls.ts'
import { announcementFields, announcementList } from '#src/announcements/fields.ts'
import { historyItemFields, historyKinds, participantFields, participantList } from '#src/history/fields.ts'
import { lists } from './lists.ts'
import { playerFields, playerList } from '#src/players/fields.ts'
import { taskFields, taskLists } from '#src/tasks/fields.ts'
import { userFields, userList, userTypes } from '#src/users/fields.ts'
import { history } from '#src/history/calls.ts'
import { players } from '#src/players/calls.ts'
import { inputOf, messagesOf, text } from '#src/testing/inputs.ts'
import { dailyTasks, socialTasks } from '#src/tasks/calls.ts'
import { users } from '#src/users/calls.ts'

describe('§3 the fields of each entity', () => {
  test.for([
    ['a user', userFields, ['fname', 'lname', 'email', 'userType']],
    [
      'a player',
      playerFields,
      'createdAt firstName lastName username userId twitterUsername instagramUsername linkedInUsername discordUsername youtubeUsername email phoneNumber tonWalletAddress bscWallet balance'.split(
        ' ',
      ),
    ],
    ['a task', taskFields, ['id', 'priority', 'title', 'link', 'reward', 'createdAt', 'numberOfParticipants']],
    [
      'an announcement',
      announcementFields,
      'id type title subtitle description link linkType inputText reward status image icon imageName iconName numberOfParticipants'.split(
        ' ',
      ),
    ],
    ['a history item', historyItemFields, ['title', 'type', 'linkType', 'link', 'description', 'inputText', 'reward']],
    ['a participant', participantFields, ['id', 'username', 'first_name', 'last_name', 'userInput', 'timestamp']],
  ] as const)('%s', ([, fields, names]) => {
    expect(Object.keys(fields)).toEqual(expect.arrayContaining([...names]))
  })

  test('a player has exactly these 15 fields', () => {
    expect(Object.keys(playerFields)).toHaveLength(15)
  })

  test('the roles and the kinds of history', () => {
    expect(userTypes.toSorted()).toEqual(['admin', 'user'])
    expect(historyKinds.toSorted()).toEqual(['announcement', 'daily', 'social'])
  })
})

describe('§9 pages', () => {
  test.for([
    ['users', userList, [50]],
    ['social tasks', taskLists.social, [50]],
    ['daily tasks', taskLists.daily, [50]],
    ['announcements', announcementList, [50]],
    ['participants', participantList, [50]],
    ['players', playerList, [5, 25, 50, 100]],
  ] as const)('%s', ([, { pageSizes }, sizes]) => {
    expect(pageSizes).toEqual(sizes)
  })

  test('players are listed 5 a page, highest balance first; A-Z is the other order of §9', () => {
    expect(inputOf(players.list).parse({})).toMatchObject({ pageSize: 5, sort: 'balance', reversed: false })
    expect(playerList.sorts.balance).toMatchObject({ field: 'balance', isDescending: true })
    expect(playerList.sorts['a-z']).toEqual({ label: 'A-Z', field: 'firstName' })
  })

  test('tasks are listed by priority, lowest first', () => {
    expect(inputOf(socialTasks.list).parse({})).toEqual({ page: 1, sort: 'priority', reversed: false })
    expect(taskLists.daily.sorts.priority).not.toHaveProperty('isDescending')
  })
})

test.for(Object.values(lists))('the list $name orders by its own fields, and its default order exists', (list) => {
  expect(Object.keys(list.sorts)).toContain(list.defaultSort)
  for (const { field } of Object.values(list.sorts)) expect(Object.keys(list.fields)).toContain(field)
  expect(list.fileName).toMatch(/^[\w-]+\.xlsx$/)
})

describe('the input of a list', () => {
  const taken = [
    ['users', users.list, {}],
    ['users', users.list, { page: '7' }],
    ['users', users.list, { search: text(100) }],
    ['users', users.list, { search: ' ada ', userType: 'admin', sort: 'last-name', reversed: 'true' }],
    ['social tasks', socialTasks.list, { type: 'bsc', sort: 'reward', reversed: 'false' }],
    ['daily tasks', dailyTasks.list, { type: 'a type of an import' }],
    ['announcements', announcements.list, { type: 'desc', status: 'inactive', sort: 'participants' }],
    ['players', players.list, { balanceMin: '-5.5', balanceMax: '9007199254740992', wallet: 'ton', pageSize: '100' }],
    ['players', players.list, { joinedFrom: '2026-01-01T00:00:00Z', joinedBefore: '2026-01-01T00:00:00+02:00' }],
    ['players', players.list, { after: 'abc', sort: 'user-id' }],
    ['participants', history.participants, { kind: 'daily', id: 'x', search: 'ada', before: 'abc' }],
  ] as const
  test.for(taken)('%s, %#', ([, call, input]) => {
    expect(messagesOf(inputOf(call), input)).toEqual({})
  })

  test.for([
    ['users', users.list, { page: '0' }, 'page'],
    ['users', users.list, { page: '1.5' }, 'page'],
    ['users', users.list, { page: 'abc' }, 'page'],
    ['users', users.list, { search: text(101) }, 'search'],
    ['users', users.list, { userType: 'owner' }, 'userType'],
    ['users', users.list, { sort: 'password' }, 'sort'],
    ['users', users.list, { sort: '' }, 'sort'],
    ['users', users.list, { reversed: 'yes' }, 'reversed'],
    ['social tasks', socialTasks.list, { type: text(65) }, 'type'],
    ['announcements', announcements.list, { status: 'true' }, 'status'],
    ['players', players.list, { balanceMin: 'many' }, 'balanceMin'],
    ['players', players.list, { balanceMax: '1e300' }, 'balanceMax'],
    ['players', players.list, { joinedFrom: '2026-01-01' }, 'joinedFrom'],
    ['players', players.list, { joinedBefore: 'yesterday' }, 'joinedBefore'],
    ['players', players.list, { wallet: 'doge' }, 'wallet'],
    ['players', players.list, { pageSize: '51' }, 'pageSize'],
    ['players', players.list, { after: '' }, 'after'],
    ['players', players.list, { after: text(8193) }, 'after'],
    ['players', players.list, { after: 'a', before: 'b' }, 'before'],
    ['participants', history.participants, { kind: 'weekly', id: 'x' }, 'kind'],
    ['participants', history.participants, { kind: 'daily', id: 'x', after: 'a', before: 'b' }, 'before'],
  ] as const)('%s: not %j', ([, call, input, field]) => {
    expect(Object.keys(messagesOf(inputOf(call), input))).toEqual([field])
  })

  test('values of a query string are parsed to their types', () => {
    const query = { search: ' ada ', balanceMin: '1.5', reversed: 'true', pageSize: '25' }
    expect(inputOf(players.list).parse(query)).toEqual({
      search: 'ada',
      balanceMin: 1.5,
      reversed: true,
      pageSize: 25,
      sort: 'balance',
    })
    expect(inputOf(users.list).parse({ page: '3' })).toEqual({ page: 3, sort: 'created', reversed: false })
  })
})

import { lists, type ListName } from '@arcade/contract/lists'
import { expect, test } from 'vitest'
import { api, queryClient } from '#src/client/client.ts'
import { refreshAfterActOn } from './changes.ts'

/** One query of each kind, as pages send them. */
const calls = {
  users: api.users.list.queryKey({ input: { page: 2 } }),
  user: api.users.get.queryKey({ input: { id: 'u' } }),
  players: api.players.list.queryKey({ input: {} }),
  participations: api.players.participations.key(),
  socialTasks: api.socialTasks.list.queryKey({ input: {} }),
  dailyTasks: api.dailyTasks.list.queryKey({ input: {} }),
  announcements: api.announcements.list.queryKey({ input: {} }),
  history: api.history.titles.queryKey({ input: { kind: 'social' } }),
  dashboard: api.dashboard.get.queryKey(),
  audit: api.audit.list.queryKey({ input: {} }),
  trash: api.trash.list.queryKey({ input: {} }),
  session: api.auth.session.queryKey(),
}
type Call = keyof typeof calls

const expected: Record<ListName, Call[]> = {
  users: ['users', 'user', 'dashboard', 'trash', 'session'],
  telegramUsers: ['players', 'participations', 'dashboard'],
  socialTasks: ['participations', 'socialTasks', 'history', 'dashboard', 'trash'],
  dailyTasks: ['participations', 'dailyTasks', 'history', 'dashboard', 'trash'],
  announcements: ['participations', 'announcements', 'history', 'dashboard', 'trash'],
  audit: ['audit'],
  trash: ['users', 'user', 'participations', 'socialTasks', 'dailyTasks', 'announcements', 'history', 'dashboard', 'trash'],
}

test.each(Object.values(lists).map(({ name }) => name))(
  'Lists: an act on %s invalidates the data it changes, and nothing else',
  async (name) => {
    for (const queryKey of Object.values(calls)) queryClient.setQueryData(queryKey, {})
    await refreshAfterActOn(name)
    const changed = Object.entries(calls).filter(([, queryKey]) => queryClient.getQueryState(queryKey)?.isInvalidated)
    expect(changed.map(([call]) => call)).toEqual(expected[name])
    queryClient.clear()
  },
)

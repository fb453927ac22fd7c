/** Queries of tasks, announcements and the player. The Earn tab claims items; the Ledger tab shows their titles. */
import { useQuery } from '@tanstack/react-query'
import { consoleClient } from './api.ts'

/** The player with balance and rank. */
export const me = { queryKey: ['me'], queryFn: async () => (await consoleClient).player({ userId: 'me' }) }

/** Whether an operator has blocked the player, so that nothing is paid. */
export function useIsBlocked(): boolean {
  return useQuery(me).data?.isBlocked ?? false
}

const tasks = (collection: 'social' | 'daily') => ({
  queryKey: ['tasks', collection],
  queryFn: async () => (await consoleClient).tasks({ userId: 'me', collection }),
})

export const socialTasks = tasks('social')
export const dailyTasks = tasks('daily')
export const announcements = {
  queryKey: ['announcements'],
  queryFn: async () => (await consoleClient).announcements({ userId: 'me' }),
}

/** Returns the query for a local URL of an announcement's `image` or `icon`. Files never change, so each is fetched once. */
export const picture = (file: string) => ({
  queryKey: ['picture', file],
  queryFn: async () => {
    const { body } = await (await consoleClient).file({ name: file.replace('announcements/', '') })
    return URL.createObjectURL(body as Blob)
  },
  staleTime: 'static' as const,
})

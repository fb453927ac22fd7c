/** What there is to do, as the player's own client reads it: on one tab to claim it, on another to say what an entry was for. */
import { useQuery } from '@tanstack/react-query'
import { desk } from './api.ts'

/** Who plays, with the balance. */
export const me = { queryKey: ['me'], queryFn: async () => (await desk).player({ userId: 'me' }) }

/** Whether an operator has blocked who plays, so that nothing would be paid. */
export function useIsBlocked(): boolean {
  return useQuery(me).data?.isBlocked ?? false
}

const tasks = (collection: 'social' | 'daily') => ({
  queryKey: ['tasks', collection],
  queryFn: async () => (await desk).tasks({ userId: 'me', collection }),
})

export const socialTasks = tasks('social')
export const dailyTasks = tasks('daily')
export const announcements = {
  queryKey: ['announcements'],
  queryFn: async () => (await desk).announcements({ userId: 'me' }),
}

/** The address, in this page, of an announcement's `image` or `icon`. A file never changes, so it is asked for once. */
export const picture = (file: string) => ({
  queryKey: ['picture', file],
  queryFn: async () => {
    const { body } = await (await desk).file({ name: file.replace('announcements/', '') })
    return URL.createObjectURL(body as Blob)
  },
  staleTime: 'static' as const,
})

/** Keeps History up to date while players take part: the titles with their participant counts, and the selected item. */
import type { Followed } from '@arcade/contract/dashboard/calls'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { api, queryClient } from '#src/client/client.ts'
import { useLive } from '#src/lists/live.ts'

type Now = Followed['history']

export function useLiveHistory(kind: HistoryKind, item: string | undefined): void {
  const titles = api.history.titles.queryKey({ input: { kind } })

  const hasTitles = ({ titles: count, participants }: Now): boolean => {
    const items = queryClient.getQueryData(titles)?.items
    return items?.length === count && items.reduce((sum, one) => sum + one.participants, 0) === participants
  }
  const hasItem = ({ ofItem }: Now): boolean =>
    item === undefined ||
    queryClient.getQueryData(api.history.get.queryKey({ input: { kind, id: item } }))?.participants === ofItem

  useLive(
    'history',
    { history: kind, ...(item !== undefined && { item }) },
    {
      isCurrent: (now) => hasTitles(now) && hasItem(now),
      refresh(now) {
        const old = [
          ...(hasTitles(now) ? [] : [titles]),
          ...(hasItem(now) || item === undefined
            ? []
            : [api.history.get, api.history.participants].map((call) => call.key({ input: { kind, id: item } }))),
        ]
        return Promise.all(old.map((queryKey) => queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false })))
      },
    },
  )
}

/** What the address of History holds; it is read before the page is loaded, so it is apart from it. */
import type { HistoryKind } from '@arcade/contract/entities/history'
import { defined, textOf } from '#src/ui/list-search.ts'

/** Where one is among the participants: a page from 2 on comes with its cursor. */
export interface ParticipantsPlace {
  /** Who is looked for. */
  q?: string
  page?: number
  after?: string
  before?: string
}

export interface HistorySearch extends ParticipantsPlace {
  /** Announcements, unless it says otherwise. */
  tab?: HistoryKind
  item?: string
}

/** What is not understood is left out. */
export function historySearch({ tab, item, q, page, after, before }: Record<string, unknown>): HistorySearch {
  const number = Number(page)
  const cursor = typeof after === 'string' ? { after } : typeof before === 'string' ? { before } : undefined
  const hasItem = (typeof item === 'string' && item !== '') || typeof item === 'number'
  return {
    ...((tab === 'social' || tab === 'daily') && { tab }),
    ...(hasItem && { item: String(item) }),
    ...(hasItem && defined({ q: textOf(q) })),
    ...(hasItem && cursor && Number.isSafeInteger(number) && number > 1 && { page: number, ...cursor }),
  }
}

/** What the address of Announcements holds. */
import type { AnnouncementsSort } from '@arcade/contract/entities/announcement'
import { defined, type ListSearch, listSearch, oneOf } from '#src/ui/list-search.ts'

export interface AnnouncementsSearch extends ListSearch<AnnouncementsSort> {
  type?: 'desc' | 'link' | undefined
  status?: 'active' | 'inactive' | undefined
}

export function announcementsSearch(given: Record<string, unknown>): AnnouncementsSearch {
  return {
    ...listSearch<AnnouncementsSort>(given, ['created', 'title', 'reward', 'participants']),
    ...defined({
      type: oneOf(given['type'], ['desc', 'link'] as const),
      status: oneOf(given['status'], ['active', 'inactive'] as const),
    }),
  }
}

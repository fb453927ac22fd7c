/** What the address of Manage Users holds. */
import type { UsersSort, UserType } from '@arcade/contract/entities/user'
import { defined, type ListSearch, listSearch, oneOf } from '#src/ui/list-search.ts'

export interface UsersSearch extends ListSearch<UsersSort> {
  userType?: UserType | undefined
}

export function usersSearch(given: Record<string, unknown>): UsersSearch {
  return {
    ...listSearch<UsersSort>(given, ['created', 'first-name', 'last-name', 'email']),
    ...defined({ userType: oneOf<UserType>(given['userType'], ['admin', 'user']) }),
  }
}

/** Manage Users as a list (§2, §6, §7): searched, filtered and sorted, 50 a page, without the caller. */
import { userList, userTypes } from '@arcade/contract/users/fields'
import { counterSql } from '#src/counters/counters.ts'
import { userEntity } from '#src/db/entities.ts'
import { serveList } from '#src/lists/list.ts'
import { searchTerm } from '#src/lists/search.ts'

export const servedUsers = serveList<typeof userList>({
  list: userList,
  entity: userEntity,
  derived: {},
  conditions: {},
  sheet: {
    sheetName: 'Users',
    flags: {},
  },
  search(text) {
    const term = searchTerm(text)
    return term && { matches: term.matches, conditions: [term.indexed] }
  },
  hidden: 'id = $1', // §6
  counted({ userType, ...others }) {
    if (Object.values(others).some((value) => value !== undefined)) return undefined
    return (userType === undefined ? userTypes : [userType])
      .map((type) => counterSql({ of: 'users', userType: type }))
      .join(' + ')
  },
})

/** Manage Users as a list (§2, §6, §7): searched, filtered and sorted, 50 a page, without the one who looks. */
import { userList, userTypes } from '@arcade/contract/entities/user'
import { counterSql } from '#src/db/counters.ts'
import { type DerivedSql, userEntity } from '#src/db/entities.ts'
import { serveList } from '#src/lists/list.ts'
import { searchTerm } from '#src/lists/search.ts'

/** Sessions go when they end; the address from which somebody has signed in is known for longer. */
export const userDerived: DerivedSql<typeof userEntity> = {
  lastSeenAt: `greatest((select max(last_seen_at) from sessions where user_id = users.id),
    (select max(seen_at) from known_addresses where user_id = users.id))`,
}

export const servedUsers = serveList<typeof userList>({
  list: userList,
  entity: userEntity,
  derived: userDerived,
  conditions: {},
  sheet: {
    sheetName: 'Users',
    flags: {},
  },
  search(text) {
    const term = searchTerm(text)
    return term && { matches: term.matches, ways: [term.found] }
  },
  hidden: 'id = $1', // §6
  counted: ({ userType }) =>
    (userType === undefined ? userTypes : [userType]).map((type) => counterSql({ of: 'users', userType: type })).join(' + '),
})

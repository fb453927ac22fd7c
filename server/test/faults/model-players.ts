/** The model's commands for the calls of players (§2, §7, §9): orders, filter and pages. No call of the stories changes players. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { type PlayersSort, playersSorts } from '@arcade/contract/players/fields'
import { compareAToZ } from '#test/a-to-z.ts'
import { command, type Model, type Outcome } from './model.ts'
import { pick } from './model-tasks.ts'

/** A row of `telegram_users` with its balance. */
export interface StoredPlayer {
  user_id: number
  first_name: string | null
  username: string
  balance: number
  created_at: Date | null
}

/** Some have equal values in the columns of an order, and some have null there. */
export const storedPlayers: readonly StoredPlayer[] = Array.from({ length: 13 }, (_, n) => ({
  user_id: 100 + n,
  first_name: n % 5 === 3 ? null : ['Zoe', 'ann', 'Ann', 'Bob'][n % 4]!,
  username: `player${(n * 7) % 13}`,
  balance: [9, 9, 9, 0.5, -1, 7][n % 6]!,
  created_at: n % 6 === 5 ? null : new Date(Date.UTC(2026, 0, 1 + (n % 4))),
}))

interface Order {
  sort: PlayersSort
  reversed: boolean
}
interface Filter {
  balanceMin?: number
}
type Page = Order & Filter & { pageSize: number; after?: string; before?: string }

const order = { sort: fc.constantFrom(...playersSorts), reversed: fc.boolean() }
const balanceMin = fc.constantFrom(undefined, undefined, 0, 9, 100)
const filterOf = (min: number | undefined): Filter => ({ ...(min !== undefined && { balanceMin: min }) })

export const playerCommands = {
  list: command(
    fc.record({
      ...order,
      balanceMin,
      pageSize: fc.constantFrom(5, 25),
      way: fc.constantFrom('after', 'before', 'neither'),
      cursor: fc.nat(40),
    }),
    (model, { sort, reversed, pageSize, way, cursor: n, balanceMin: min }): Page => {
      const cursor = model.cursors[n % model.cursors.length]
      if (way === 'neither' || !cursor) return { sort, reversed, pageSize, ...filterOf(min) }
      return { sort: cursor.sort, reversed: cursor.reversed, pageSize, [way]: cursor.text, ...filterOf(min) }
    },
    (model, input) => ({ answer: pageOf(model, input) }),
  ),

  count: command(
    balanceMin,
    (_model, min) => filterOf(min),
    (_model, input) => ({ answer: { total: storedPlayers.filter(isIn(input)).length } }),
  ),

  get: command(
    pick,
    (_model, n) => ({ userId: 98 + 4 * n }),
    (_model, { userId }): Outcome => {
      const player = storedPlayers.find((one) => one.user_id === userId)
      if (!player) return { refusal: 'NO_SUCH_PLAYER' }
      return { answer: { ...onTheWire(player), participations: { total: 0, reward: 0 } } }
    },
  ),

  neighbours: command(
    fc.record({ ...order, balanceMin, n: fc.nat(storedPlayers.length) }),
    (_model, { n, balanceMin: min, ...rest }) => ({ userId: 100 + n, ...rest, ...filterOf(min) }),
    (_model, input): Outcome => {
      const all = inOrder(input)
      const place = all.findIndex((player) => player.user_id === input.userId)
      if (place < 0) return { refusal: 'NO_SUCH_PLAYER' }
      const previous = all.slice(0, place).findLast(isIn(input))
      const next = all.slice(place + 1).find(isIn(input))
      return { answer: { previous: previous?.user_id ?? null, next: next?.user_id ?? null } }
    },
  ),
}

function pageOf({ cursors }: Model, input: Page) {
  const cursor = cursors.find(({ text }) => text === (input.after ?? input.before))
  const all = inOrder(input)
  const place = all.findIndex((player) => player.user_id === cursor?.userId)
  const beyond = (input.before === undefined ? all.slice(place + 1) : all.slice(0, place)).filter(isIn(input))
  const users = input.before === undefined ? beyond.slice(0, input.pageSize) : beyond.slice(-input.pageSize)
  const hasMore = beyond.length > users.length
  return {
    users: users.map(onTheWire),
    ...(input.balanceMin === undefined && { total: storedPlayers.length }),
    after: cursorIf(users.length > 0 && (input.before !== undefined || hasMore)),
    before: cursorIf(users.length > 0 && (input.after !== undefined || (input.before !== undefined && hasMore))),
  }
}

function cursorIf(isThere: boolean): unknown {
  return isThere ? expect.any(String) : null
}

/** Sorts players by the order's field, nulls last, then by id; `reversed` reverses the whole list (§9). */
function inOrder({ sort, reversed }: Order): StoredPlayer[] {
  const keys: Record<PlayersSort, (player: StoredPlayer) => number | string | null> = {
    balance: ({ balance }) => -balance,
    'a-z': ({ first_name: name }) => name,
    newest: ({ created_at: at }) => (at ? -at.getTime() : null),
    'user-id': ({ user_id: id }) => id,
    username: ({ username }) => username,
  }
  const key = keys[sort]
  const sorted = storedPlayers.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)]
    if (a === b) return one.user_id - other.user_id
    if (a === null || b === null) return a === null ? 1 : -1
    return (typeof a === 'string' ? compareAToZ(a, b as string) : a - Number(b)) || one.user_id - other.user_id
  })
  return reversed ? sorted.toReversed() : sorted
}

function isIn({ balanceMin: min = -Infinity }: Filter): (player: StoredPlayer) => boolean {
  return ({ balance }) => balance >= min
}

function onTheWire({ user_id: userId, first_name: firstName, username, balance }: StoredPlayer) {
  return { userId, firstName, username, balance }
}

/** Telegram Users searched, filtered and sorted: pages in both directions equal a list in memory. */
import { describe, expect, test } from 'vitest'
import type { Player, PlayersFilter, PlayersSort } from '@arcade/contract/players/fields'
import { playersSorts } from '@arcade/contract/players/fields'
import type { Database } from '#src/db/database.ts'
import { addCount } from '#test/activity.ts'
import { type Client, testApp } from '#test/test-app.ts'
import { addPlayers } from '#test/players.ts'
import { compareAToZ } from '#test/a-to-z.ts'

/** The same numbers in every run. */
function seededPick(seed: number) {
  let state = seed
  return <T>(values: readonly T[]): T => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return values[Math.floor((state / 2_147_483_648) * values.length)]!
  }
}

const names = [
  'Anna',
  'anna',
  'ANNA',
  'Виктор',
  'виктор',
  '王芳',
  'محمد',
  'Åse',
  "O'Neill",
  'Lucía Paz',
  'Lucía  Paz',
  ' Paz ',
  'Zoë',
  'ＺＯＥ',
  'Łucja',
  'Алёша',
  'مُحَمَّد',
  '😀Sky',
  '100%',
  'a\\b',
  '',
  null,
]
const handles = ['moon', 'moon_1', 'moon.1', '@moon-1', 'ro', 'qmoon', 'x_y_z', '#50', null, null]
const wallets = ['UQAbc', 'UQabd', 'uqX', null, null]
const phones = ['+62 812-3456 789', '+1 800 00 45 67', '(0)30 901820', '+628123456789', '12', null, null, null]
const moments = [
  '2026-01-01T00:00:00.000Z',
  '2026-01-01T00:00:00.000001Z',
  '2026-02-03T04:05:06.789Z',
  '1969-12-31T23:59:59.000Z',
  null,
]

type SeededPlayer = Pick<Player, 'userId' | 'firstName' | 'lastName' | 'username' | 'email' | 'twitterUsername' | 'phoneNumber'> &
  Pick<Player, 'discordUsername' | 'tonWalletAddress' | 'bscWallet' | 'balance'> & { createdAt: string | null }

function generate(count: number): SeededPlayer[] {
  const pick = seededPick(7)
  return Array.from({ length: count }, (_, index) => ({
    userId: 1000 + ((index * 7919) % 100_003),
    firstName: pick(names),
    lastName: pick(names),
    username: pick([...handles, `u${index}`]),
    twitterUsername: pick(handles),
    discordUsername: pick([null, null, 'rosa#12', 'sky.20261124', 'x112402620', '2024.112.026']),
    email: pick([null, `p${index}@example.org`, 'Same@Example.org']),
    phoneNumber: pick(phones),
    tonWalletAddress: pick(wallets),
    bscWallet: pick([null, null, null, '0xAB', '0xabc']),
    balance: pick([0, 0, 0, 1, 2.5, -3, index]),
    createdAt: pick(moments),
  }))
}

async function store(database: Database, players: SeededPlayer[]): Promise<void> {
  await addPlayers(
    database.db,
    players.map((player) => ({
      user_id: player.userId,
      first_name: player.firstName,
      last_name: player.lastName,
      username: player.username,
      twitter_username: player.twitterUsername,
      discord_username: player.discordUsername,
      email: player.email,
      phone_number: player.phoneNumber,
      ton_wallet_address: player.tonWalletAddress,
      bsc_wallet: player.bscWallet,
      balance: player.balance,
      created_at: player.createdAt,
    })),
  )
  await addCount(database, { of: 'players' }, players.length)
}

/** The contract's filters without a database. */
function matches(
  player: SeededPlayer,
  { search, balanceMin, balanceMax, joinedFrom, joinedBefore, wallet }: PlayersFilter,
): boolean {
  const { createdAt, tonWalletAddress: ton, bscWallet: bsc } = player
  if (balanceMin !== undefined && player.balance < balanceMin) return false
  if (balanceMax !== undefined && player.balance > balanceMax) return false
  if (joinedFrom !== undefined && !(createdAt !== null && exact(createdAt) >= exact(joinedFrom))) return false
  if (joinedBefore !== undefined && !(createdAt !== null && exact(createdAt) < exact(joinedBefore))) return false
  const owned = Number(ton !== null) * 2 + Number(bsc !== null)
  if (wallet === 'any' && owned === 0) return false
  if (wallet === 'none' && owned !== 0) return false
  if (wallet === 'ton' && ton === null) return false
  if (wallet === 'bsc' && bsc === null) return false
  const whole = (search ?? '').trim().toLowerCase()
  const term = fold(search ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^@+/, '')
  if (term === '') return true
  if (String(player.userId) === whole) return true
  if ([ton, bsc].some((address) => address?.toLowerCase().startsWith(whole))) return true
  const texts = [
    player.username,
    player.firstName,
    player.lastName,
    player.twitterUsername,
    null,
    null,
    player.discordUsername,
    null,
  ]
  const phone = player.phoneNumber?.replaceAll(/[^0-9]/g, '') ?? ''
  const all =
    [...texts, player.email].map((part) => fold(` ${part ?? ''}`)).join('') + (player.phoneNumber === null ? '' : ` ${phone}`)
  const text = term.includes(' ') ? all.replaceAll(/ +/g, ' ') : all
  const isShort = Array.from(term).length < 3 && /^[a-z0-9_.#@ -]*$/.test(term)
  const digits = /^[+(]?[\d\s()./-]+$/.test(whole) ? whole.replaceAll(/[^0-9]/g, '') : ''
  const significant = digits.replace(/^0+/, '')
  const phonePart = significant.length >= 3 ? significant : digits
  if (phonePart.length >= 3 && phone.includes(phonePart)) return true
  return isShort ? text.includes(` ${term}`) || text.includes(`@${term}`) : text.includes(term)
}

/** Removes case, width and diacritics. Indic vowel signs, which Unicode counts as marks, are not in these names. */
function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ł', 'l')
}

/** A time as text that sorts exactly, down to microseconds. */
function exact(moment: string): string {
  return moment.replace(/(\.\d+)?Z$/, (_, fraction: string = '.') => fraction.padEnd(7, '0'))
}

function keyOf(player: SeededPlayer, sort: PlayersSort): string | number | null {
  if (sort === 'balance') return -player.balance
  if (sort === 'a-z') return player.firstName
  if (sort === 'username') return player.username
  if (sort === 'newest')
    return player.createdAt === null
      ? null
      : -Date.parse(player.createdAt) * 1000 - Number(/\.\d{3}(\d{3})Z/.exec(player.createdAt)?.[1] ?? 0)
  return player.userId
}

function expected(players: SeededPlayer[], filter: PlayersFilter, sort: PlayersSort, reversed: boolean): number[] {
  const compare = (a: string | number | null, b: string | number | null): number => {
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return typeof a === 'string' ? compareAToZ(a, b as string) : a - (b as number)
  }
  const ids = players
    .filter((player) => matches(player, filter))
    .toSorted((a, b) => compare(keyOf(a, sort), keyOf(b, sort)) || a.userId - b.userId)
    .map(({ userId }) => userId)
  return reversed ? ids.toReversed() : ids
}

interface Page {
  users: Player[]
  total: number | null
  pageCount: number | null
  after: string | null
  before: string | null
}

const query = (values: object): string => new URLSearchParams(values as Record<string, string>).toString()

async function pageOf(client: Client, values: object): Promise<Page> {
  const answer = await client.call('GET', `/api/telegram-users?${query(values)}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body as Page
}

/** Reads the whole list from one end to the other and back, page by page. */
async function walk(client: Client, values: object): Promise<{ forth: number[]; back: number[]; totals: (number | null)[] }> {
  const pages = [await pageOf(client, values)]
  for (let after = pages[0]!.after; after !== null; after = pages.at(-1)!.after)
    pages.push(await pageOf(client, { ...values, after }))
  const back = [pages.at(-1)!]
  for (let before = back[0]!.before; before !== null; before = back[0]!.before)
    back.unshift(await pageOf(client, { ...values, before }))
  const idsOf = (read: Page[]) => read.flatMap(({ users }) => users.map(({ userId }) => userId))
  return { forth: idsOf(pages), back: idsOf(back), totals: pages.map(({ total }) => total) }
}

const filters: PlayersFilter[] = [
  {},
  { search: 'MOON' },
  { search: '@moon' },
  { search: 'moon_1' },
  { search: 'moon-1' },
  { search: 'ro' },
  { search: 'm' },
  { search: 'ВИКТОР' },
  { search: 'икт' },
  { search: '芳' },
  { search: 'محم' },
  { search: 'åse' },
  { search: "o'ne" },
  { search: 'lucía p' },
  { search: 'Lucia' },
  { search: 'zoe' },
  { search: 'ZÖË' },
  { search: 'ｚｏë' },
  { search: 'zô' },
  { search: 'lucj' },
  { search: 'алеш' },
  { search: 'محمد' },
  { search: '+62 812-345' },
  { search: '0812 3456' },
  { search: '3456789' },
  { search: '(0)30 9018' },
  { search: '00 45' },
  { search: '0045' },
  { search: '000 12' },
  { search: '-8123' },
  { search: '0112' }, // in a name, these digits are not a phone number
  { search: '(202)-611' },
  { search: 'lucia  paz' },
  { search: 'anna paz' },
  { search: 'paz anna' },
  { search: 'paz 100%' },
  { search: '62' },
  { search: '😀' },
  { search: '%' },
  { search: '0%' },
  { search: '_y_' },
  { search: '\\' },
  { search: "'; --" },
  { search: 'uqab' },
  { search: '0xa' },
  { search: '1000' },
  { search: 'example.org' },
  { search: 'p123' },
  { search: 'sky.20261124' },
  { search: '20261124' },
  { search: '2026112' },
  { search: '1124026' },
  { search: '2402611' },
  { search: '123@' },
  { search: 'nobody here' },
  { balanceMin: 0, balanceMax: 2.5 },
  { balanceMin: 3 },
  { balanceMax: -1 },
  { joinedFrom: '2026-01-01T00:00:00Z' },
  { joinedBefore: '2026-01-01T02:00:00+01:00', joinedFrom: '0000-01-01T00:00:00Z' },
  { wallet: 'any' },
  { wallet: 'none' },
  { wallet: 'ton', balanceMin: 1 },
  { wallet: 'bsc', search: 'anna', joinedFrom: '2026-01-01T00:00:00Z' },
]

describe('Lists: players', () => {
  const players = generate(250)

  for (const sort of playersSorts) {
    for (const reversed of [false, true]) {
      test(`Lists: every filter by ${sort}${reversed ? ', reversed' : ''}, forwards and back`, async () => {
        const app = await testApp()
        const admin = await app.signUp('admin')
        await store(app.database, players)
        for (const filter of filters) {
          const ids = expected(players, filter, sort, reversed)
          const { forth, back, totals } = await walk(admin, { ...filter, sort, reversed, pageSize: 25 })
          expect(forth, JSON.stringify(filter)).toEqual(ids)
          expect(back, JSON.stringify(filter)).toEqual(ids)
          for (const total of totals) expect([null, ids.length], JSON.stringify(filter)).toContain(total)
        }
      })
    }
  }

  test('Lists: how many a filter matches', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await store(app.database, players)
    for (const filter of filters) {
      const answer = await admin.call('GET', `/api/telegram-users/count?${query(filter)}`)
      expect(answer.body, JSON.stringify(filter)).toEqual({
        total: expected(players, filter, 'user-id', false).length,
        isMore: false,
      })
    }
  })

  test('Lists: the players before and after one player in a filtered list, in any order', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await store(app.database, players)
    for (const sort of playersSorts) {
      for (const reversed of [false, true]) {
        for (const filter of [{}, { search: 'anna' }, { wallet: 'ton' as const }]) {
          const ids = expected(players, filter, sort, reversed)
          for (const at of [0, 1, Math.floor(ids.length / 2), ids.length - 1]) {
            const answer = await admin.call(
              'GET',
              `/api/telegram-users/${ids[at]}/neighbours?${query({ ...filter, sort, reversed })}`,
            )
            expect(answer.body).toEqual({ previous: ids[at - 1] ?? null, next: ids[at + 1] ?? null })
          }
        }
      }
    }
    expect(await admin.call('GET', '/api/telegram-users/5/neighbours')).toMatchObject({
      status: 404,
      body: { code: 'NO_SUCH_PLAYER' },
    })
  })

  test('Lists: a cursor is valid only for its own order', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await store(app.database, players)
    const { after } = await pageOf(admin, { sort: 'username' })
    for (const other of ['sort=username&reversed=true', 'sort=a-z', 'sort=newest', 'sort=balance', 'sort=user-id']) {
      expect((await admin.call('GET', `/api/telegram-users?${other}&after=${after}`)).status, other).toBe(400)
    }
  })

  test('security: hostile searches and filters find nothing or are refused, and never cause a server error', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await store(app.database, players)
    const calls = [
      '/api/telegram-users?',
      '/api/telegram-users/count?',
      '/api/users?',
      '/api/social-tasks?',
      '/api/announcements?',
    ]
    const terms = [
      '%',
      '_',
      '\\',
      '%%%',
      '___',
      '\\\\\\',
      "'",
      "';drop table users;--",
      '((',
      '[a-z',
      '*',
      '.',
      '...',
      '@',
      '@@',
      '"',
      '$1',
      '   x   ',
    ]
    for (const call of calls) {
      for (const search of terms) expect((await admin.call('GET', call + query({ search }))).status, call + search).toBe(200)
      for (const search of ['a%00b', '%ED%A0%80', 'a'.repeat(101), 'a'.repeat(10_000)]) {
        const { status } = await admin.call('GET', `${call}search=${search}`)
        expect([200, 400], call + search.slice(0, 20)).toContain(status)
      }
    }
    for (const wrong of [
      'balanceMin=x',
      'balanceMin=1e300',
      'balanceMin=NaN',
      'joinedFrom=yesterday',
      'joinedFrom=2026-02-30T00:00:00Z',
      'wallet=eth',
      'reversed=1',
      'sort=email',
    ]) {
      expect((await admin.call('GET', `/api/telegram-users?${wrong}`)).status, wrong).toBe(400)
    }
  })
})

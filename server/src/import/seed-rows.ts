/**
 * Synthetic rows as SQL: everything about row i follows from hashes of i, so the same row always comes out the same and a
 * participant has the names of the player with that number. Parameters: $1 and $2 the first and last i, $3 the number that
 * ids start after, $4 the day that ends the twelve months.
 */
import type { StoredName } from '@arcade/contract/entity'
import type { participantFields } from '@arcade/contract/history/fields'
import type { playerFields } from '@arcade/contract/players/fields'
import { balanceBucketSql } from '#src/counters/counter-keys.ts'
import { columnName, type Entity, isBeside, participantEntity, playerEntity } from '#src/db/entities.ts'
import { periodSql } from '#src/ledger/periods.ts'

/** Bits of a hash of i; `salt` makes them independent of others'. Never negative. */
const bits = (salt: number): string => `(hashint8extended(i, ${salt}) & 9223372036854775807)`
/** From 0 to count - 1, evenly. */
const pick = (salt: number, count: number): string => `(${bits(salt)} % ${count})`
/** From 0 up to 1; of type float8, whose powers are a hundred times as fast as numeric's. */
const fraction = (salt: number): string => `(${pick(salt, 1_000_000)} / 1e6::float8)`
/** True for so many of a hundred. */
const percent = (salt: number, share: number): string => `${pick(salt, 100)} < ${share}`
const oneOf = (salt: number, values: string[]): string => `(array['${values.join(`', '`)}'])[1 + ${pick(salt, values.length)}]`

const firstNames =
  'Daria Kofi Elif Chidi Rosa Åse Ivan Mateo Zoë Linh José Anaïs Müge Sofía Łukasz Виктор Ольга Наталія 王芳 李伟 さくら 健太 지민 שרה محمد فاطمة प्रिया Νίκος Ayşe 😀Sky'.split(
    ' ',
  )
const lastNames =
  "Nowak Nguyen Kaya Ivanova Okafor Tanaka d’Angelo García Müller Silva Шевченко Петров السيد 李 김 O'Neill Öztürk Papadopoulos Patel van-Dijk"
    .replaceAll("'", "''")
    .split(' ')
const words = 'lucky moon coin pixel neo ton sky arc hodl nova turbo ninja gamer lunar satoshi frog wave zen'.split(' ')
const countries = '1 7 31 34 39 44 45 49 55 62 81 84 90 91 234 380 972'.split(' ')
const tags = 'tv live play art dev fan'.split(' ')

const firstName = oneOf(1, firstNames)
const lastName = `case when ${percent(2, 85)} then ${oneOf(3, lastNames)} end`
/** 85 % have one; unique by the number in it. */
const username = `case when ${percent(4, 85)} then ${oneOf(5, words)} || '_' || i end`
const handle = `${oneOf(6, words)} || '.' || i`
const hex = `md5(i::text) || substr(md5((-i)::text), 1, 8)`

/** One in eight has nothing, a quarter one of 40 round sums, the rest spreads over six powers of ten; some have quarters. */
const balance = `case
    when ${percent(7, 12)} then 0
    when ${percent(8, 28)} then 250 * (1 + ${pick(9, 40)})
    else round((10::float8 ^ (1 + 5.5 * ${fraction(10)} * ${fraction(11)}))::numeric) + ${pick(12, 8)} / 7 * 0.25
  end`

/** Within the twelve months before $4, more of them lately. */
const moment = (salt: number): string =>
  `$4::timestamptz - interval '1 second' * (31536000 * ${fraction(salt)} ^ 1.5::float8)::int`

/** What a statement gives of each added row: the hour of that moment, counted from 1970 on. */
const hourOf = (at: string): string => `floor(extract(epoch from ${at} at time zone 'UTC') / 3600)::int as hour`

const playerValues = {
  userId: '$3::bigint + i',
  createdAt: moment(20),
  firstName,
  lastName,
  username,
  twitterUsername: `case when ${percent(21, 45)} then '@' || ${handle} end`,
  instagramUsername: `case when ${percent(22, 40)} then ${handle} end`,
  linkedInUsername: `case when ${percent(23, 20)} then 'in-' || i end`,
  discordUsername: `case when ${percent(24, 37)} then ${oneOf(25, words)} || '#' || lpad(${pick(26, 10_000)}::text, 4, '0') end`,
  youtubeUsername: `case when ${percent(27, 35)} then '@' || ${handle} || '-' || ${oneOf(28, tags)} end`,
  email: `case when ${percent(29, 45)} then 'player' || i || '@example.org' end`,
  phoneNumber: `case when ${percent(30, 27)} then '+' || ${oneOf(31, countries)} || lpad(i::text, 9, '0') end`,
  tonWalletAddress: `case when ${percent(32, 45)} then 'UQ' || translate(encode(decode(${hex} || substr(md5((i * 2)::text), 1, 28), 'hex'), 'base64'), '+/=', '-_') end`,
  bscWallet: `case when ${percent(33, 29)} then '0x' || ${hex} end`,
  balance,
} satisfies Record<StoredName<typeof playerFields>, string>

const ownPlayerValues = Object.fromEntries(Object.entries(playerValues).filter(([name]) => !isBeside(playerEntity, name)))

export const telegramUsersSql = `
  insert into telegram_users (${columnList(playerEntity, ownPlayerValues)})
  select ${Object.values(ownPlayerValues).join(', ')} from generate_series($1::bigint, $2::bigint) as i
  on conflict (user_id) do nothing returning ${hourOf('created_at')}`

const opened = `(select ${playerValues.userId} as user_id, ${playerValues.createdAt} as at, (${balance})::numeric as balance
  from generate_series($1::bigint, $2::bigint) as i) as opened`

/** The same players' balances, which give their buckets, and opening entries, in this order. */
export const balancesSql = [
  `insert into balances (user_id, balance, imported, entries)
     select user_id, balance, balance, (balance <> 0)::int from ${opened} where $4::timestamptz is not null on conflict (user_id) do nothing
     returning ${balanceBucketSql('balance')} as bucket`,
  `insert into ledger_entries (user_id, seq, amount, cause, at, balance)
     select user_id, 1, balance, 'opening', at, balance from ${opened} where balance <> 0 on conflict (user_id, seq) do nothing`,
]

const participantValues = {
  id: '$3::bigint + i',
  username,
  first_name: firstName,
  last_name: lastName,
  userInput: `case when ${percent(40, 20)} then 'https://x.com/' || ${oneOf(5, words)} || '/status/' || ${bits(41)} end`,
  timestamp: `$4::timestamptz - interval '1 second' * ((hashint8extended(i, hashtext($6)) & 9223372036854775807) % 31536000)`,
} satisfies Record<StoredName<typeof participantFields>, string>

/** $5 and $6: kind and id of the history document; the first players take part in all of them. */
export const participationsSql = `
  insert into participations (kind, item_id, period, ${columnList(participantEntity, participantValues)})
  select $5::text, $6::text, ${periodSql('$5::text', `(${participantValues.timestamp}) at time zone 'UTC'`)}, ${Object.values(participantValues).join(', ')} from generate_series($1::bigint, $2::bigint) as i
  on conflict (user_id, kind, item_id, period) do nothing returning ${hourOf('at')}`

function columnList(entity: Entity, values: Readonly<Record<string, string>>): string {
  return Object.keys(values)
    .map((name) => columnName(entity, name))
    .join(', ')
}

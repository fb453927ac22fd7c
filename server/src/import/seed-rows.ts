/**
 * Synthetic rows as SQL. All values of row i are computed from hashes of i, so a row always gets the same values, and a participant has the
 * names of the player with that number. Parameters: $1 and $2 are the first and last i, $3 is the number after which ids start, and $4 is
 * the day on which the twelve months end.
 */
import type { StoredName } from '@arcade/contract/entity'
import type { participantFields } from '@arcade/contract/history/fields'
import type { playerFields } from '@arcade/contract/players/fields'
import { balanceBucketSql } from '#src/counters/counter-keys.ts'
import { columnName, type Entity, isJoinedField, participantEntity, playerEntity } from '#src/db/entities.ts'
import { periodSql } from '#src/ledger/periods.ts'

/** A hash of i that is never negative; different salts give independent values. */
const bits = (salt: number): string => `(hashint8extended(i, ${salt}) & 9223372036854775807)`
/** An evenly distributed integer from 0 to count - 1. */
const pick = (salt: number, count: number): string => `(${bits(salt)} % ${count})`
/** A number from 0 up to 1, of type float8, whose powers are a hundred times as fast as those of numeric. */
const fraction = (salt: number): string => `(${pick(salt, 1_000_000)} / 1e6::float8)`
/** True for `share` percent of the rows. */
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
/** 85 % of the players have a username; the number in it makes it unique. */
const username = `case when ${percent(4, 85)} then ${oneOf(5, words)} || '_' || i end`
const handle = `${oneOf(6, words)} || '.' || i`
const hex = `md5(i::text) || substr(md5((-i)::text), 1, 8)`

/** One player in eight has 0 points, a quarter have one of 40 round sums, and the others spread over six powers of ten; some have fractions. */
const balance = `case
    when ${percent(7, 12)} then 0
    when ${percent(8, 28)} then 250 * (1 + ${pick(9, 40)})
    else round((10::float8 ^ (1 + 5.5 * ${fraction(10)} * ${fraction(11)}))::numeric) + ${pick(12, 8)} / 7 * 0.25
  end`

/** A time within the twelve months before $4; recent times are more frequent. */
const moment = (salt: number): string =>
  `$4::timestamptz - interval '1 second' * (31536000 * ${fraction(salt)} ^ 1.5::float8)::int`

/** The hour of a time, counted from 1970, which a statement returns for each added row. */
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

const ownPlayerValues = Object.fromEntries(Object.entries(playerValues).filter(([name]) => !isJoinedField(playerEntity, name)))

export const telegramUsersSql = `
  insert into telegram_users (${columnList(playerEntity, ownPlayerValues)})
  select ${Object.values(ownPlayerValues).join(', ')} from generate_series($1::bigint, $2::bigint) as i
  on conflict (user_id) do nothing returning ${hourOf('created_at')}`

const opened = `(select ${playerValues.userId} as user_id, ${playerValues.createdAt} as at, (${balance})::numeric as balance
  from generate_series($1::bigint, $2::bigint) as i) as opened`

/** Inserts the balances of the same players, returning their buckets, and then their opening ledger entries. */
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

/** $5 and $6 are the kind and id of the history document. The first players take part in every item. */
export const participationsSql = `
  insert into participations (kind, item_id, period, ${columnList(participantEntity, participantValues)})
  select $5::text, $6::text, ${periodSql('$5::text', `(${participantValues.timestamp}) at time zone 'UTC'`)}, ${Object.values(participantValues).join(', ')} from generate_series($1::bigint, $2::bigint) as i
  on conflict (user_id, kind, item_id, period) do nothing returning ${hourOf('at')}`

function columnList(entity: Entity, values: Readonly<Record<string, string>>): string {
  return Object.keys(values)
    .map((name) => columnName(entity, name))
    .join(', ')
}

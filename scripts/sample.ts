/**
 * `npm run sample` writes sample/: realistic data of a small console, in the format of `npm run import`. All data follow from SEED,
 * sample-items.ts and sample-people.ts, so each run writes the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './children.ts'
import { randomFrom } from './random.ts'
import { type Announcement, announcements, daily, type Item, social } from './sample-items.ts'
import { countries, type Country, emoji, knownPlayers, oddNames, type Player, words } from './sample-people.ts'

const SEED = 20_261_031
const PLAYERS = 1203
/** The newest time in the sample. It is fixed, so that tests do not depend on the day on which they run. `npm run demo` moves it to now. */
const NEWEST = Date.UTC(2026, 9, 31, 21, 17, 42)
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
/** Telegram allows usernames of 5 to 32 letters, digits and underscores. */
const USERNAME_LENGTH = { least: 5, most: 32 }

let random = randomFrom(SEED)
const below = (limit: number): number => Math.floor(random() * limit)
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!
const chance = (percent: number): boolean => random() * 100 < percent
const letters = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join('')
/** Returns random numbers of the standard normal distribution (Box–Muller). */
const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
const between = (from: number, to: number): number => Math.floor(from + (to - from) * random())

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const timestamp = (ms: number) => ({ _seconds: Math.floor(ms / 1000), _nanoseconds: (ms % 1000) * 1_000_000 })
const milliseconds = ({ _seconds, _nanoseconds }: Player['createdAt']): number => _seconds * 1000 + _nanoseconds / 1_000_000

interface Name {
  shown: string
  latin: string
}
const toLatin = (text: string): string =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[øß]/g, (letter) => (letter === 'ø' ? 'o' : 'ss'))
    .replaceAll('ł', 'l')
    .replaceAll('đ', 'd')
    .replaceAll('ı', 'i')
    .replaceAll('þ', 'th')
    .replaceAll('œ', 'oe')
    .replaceAll('æ', 'ae')
    .replaceAll(/[^a-z0-9]/g, '')
function parseName(entry: string): Name {
  const [written = '', latin = toLatin(written)] = entry.split('=')
  return { shown: written.replaceAll('-', ' ').replace('Smith Jones', 'Smith-Jones'), latin }
}

function names(taken: Set<string>): { names: Pick<Player, 'firstName' | 'lastName'>; latin: Name['latin'][]; country: Country } {
  for (;;) {
    const country = oneOf(countries)
    const first = parseName(oneOf(country.first))
    const last = chance(87) ? parseName(oneOf((chance(92) ? country : oneOf(countries)).last)) : undefined
    const firstName = chance(5) ? (chance(50) ? `${oneOf(emoji)}${first.shown}` : `${first.shown} ${oneOf(emoji)}`) : first.shown
    const shown = `${firstName} ${last?.shown ?? ''}`
    if (taken.has(shown)) continue
    taken.add(shown)
    return { names: { firstName, ...(last && { lastName: last.shown }) }, latin: [first.latin, last?.latin ?? ''], country }
  }
}

function username(taken: Set<string>, [first = '', last = '']: readonly string[]): string {
  for (;;) {
    const number = below(10_000)
    const name = oneOf([
      `${oneOf(words)}_${number}`,
      `${oneOf(words)}_${oneOf(words)}`,
      `${first}_${last}`,
      `${first}${1970 + below(40)}`,
      `${last}${first.slice(0, 1)}${below(100)}`,
      `${first}_${oneOf(words)}`,
      `${oneOf(['its', 'the', 'real', 'mr', 'x'])}_${first || last}${below(1000)}`,
    ]).replaceAll(/^_|_$/g, '')
    if (name.length < USERNAME_LENGTH.least || name.length > USERNAME_LENGTH.most || /^\d/.test(name) || taken.has(name)) continue
    taken.add(name)
    return name
  }
}

/** Returns a log-normal balance with the median 18,000. One in 16 is 0, one in 12 a round sum that others share, one in six a fraction. */
function balance(): number {
  if (chance(6)) return 0
  if (chance(8)) return 250 * (1 + below(12))
  const points = Math.exp(9.8 + 2.05 * normal())
  if (chance(8)) return Math.round(points * 4) / 4
  return chance(8) ? Math.round(points * 100) / 100 : Math.round(points)
}

/** Returns a player's optional fields. @param handle the player's username, on which the names at other services are based */
function profile(handle: string, code: string): Partial<Player> {
  const alias = chance(70) ? handle : `${oneOf(words)}_${below(100_000)}`
  return {
    ...(chance(45) && { twitterUsername: `@${alias.slice(0, 15)}` }),
    ...(chance(40) && { instagramUsername: alias.replaceAll('_', '.') }),
    ...(chance(20) && { linkedInUsername: `${handle.replaceAll('_', '-')}-${letters('0123456789abcdef', 6)}` }),
    ...(chance(36) && { discordUsername: chance(50) ? alias : `${alias}#${String(below(10_000)).padStart(4, '0')}` }),
    ...(chance(34) && { youtubeUsername: `@${alias}${oneOf(['', 'tv', '-plays', '.live'])}` }),
    ...(chance(44) && {
      email: `${oneOf([alias, alias, `${alias}+arcade`, handle.replaceAll('_', '.')])}@example.${oneOf(['org', 'com', 'net'])}`,
    }),
    // No number of these countries begins with 0 after the calling code, so these numbers belong to nobody.
    ...(chance(27) && { phoneNumber: `+${code}0${letters('0123456789', 8)}` }),
    ...(chance(42) && { tonWalletAddress: tonWallet() }),
    ...(chance(28) && { bscWallet: bscWallet() }),
  }
}

const tonWallet = (): string => oneOf(['UQ', 'EQ']) + letters(`${ALPHANUMERIC}-_`, 46)
const bscWallet = (): string => `0x${letters('0123456789abcdef', 40)}`

/** Returns the players, ordered by id like an export of the game's database. */
function makePlayers(): Player[] {
  const takenNames = new Set<string>()
  const takenUsernames = new Set([...oddNames, ...Object.values(knownPlayers)].flatMap((one) => one.username ?? []))
  const oddEvery = Math.floor(PLAYERS / oddNames.length)
  let userId = 100_000_000
  const players: Player[] = []
  for (let index = 0; index < PLAYERS; index += 1) {
    userId += index === 1 ? 8077 - (userId % 100_000) : 1 + below(index < 700 ? 9_000 : 11_000_000)
    const id = { id: String(userId), userId }
    const createdAt = timestamp(Math.floor(NEWEST - YEAR_MS * random() ** 1.6)) // more of them joined recently
    const odd = index % oddEvery === 7 ? oddNames[Math.floor(index / oddEvery)] : undefined
    const known = knownPlayers[index]
    if (known) {
      players.push({ ...id, createdAt, ...known })
    } else if (odd) {
      players.push({ ...id, createdAt, ...odd, ...profile(odd.username ?? `player_${index}`, '888'), balance: balance() })
    } else {
      const { names: shown, latin, country } = names(takenNames)
      const handle = username(takenUsernames, latin)
      players.push({
        ...id,
        createdAt,
        ...shown,
        ...(chance(86) && { username: handle }),
        ...profile(handle, country.code),
        balance: balance(),
      })
    }
  }
  return players
}

/** Returns a player's input for an item: mostly what the item asks for. */
function userInput(type: string, player: Player): string {
  if (chance(6))
    return oneOf([
      'done',
      'Готово ✅',
      '?',
      '=1+1',
      'I did it yesterday,\nsee my profile',
      '<a href="https://example.org">here</a>',
    ])
  if (type === 'email') return player.email ?? `${player.username ?? `player${player.id}`}@example.org`
  if (type === 'bsc') return player.bscWallet ?? bscWallet()
  return `https://x.com/${player.twitterUsername?.slice(1) ?? player.username ?? 'i'}/status/18${letters('0123456789', 17)}`
}

/** Returns the users subcollection of an item, ordered by time. Each player is in it once at most; the first players are in most. */
function participations(
  parent: string,
  { age, participants }: Item,
  { players, asks }: { players: readonly Player[]; asks?: string },
) {
  const created = NEWEST - age * DAY_MS
  const chosen = new Set<Player>()
  while (chosen.size < participants) chosen.add(players[Math.floor(players.length * random() ** 1.7)]!)
  const rows = [...chosen].map((player) => ({ player, at: between(Math.max(created, milliseconds(player.createdAt)), NEWEST) }))
  return rows
    .toSorted((a, b) => a.at - b.at)
    .map(({ player: { id, username: handle, firstName, lastName }, player, at }) => ({
      parent,
      id,
      ...(handle !== undefined && { username: handle }),
      ...(firstName !== undefined && { first_name: firstName }),
      ...(lastName !== undefined && { last_name: lastName }),
      ...(asks !== undefined && { userInput: userInput(asks, player) }),
      timestamp: timestamp(at),
    }))
}

const createdAt = ({ age }: Item) => timestamp(NEWEST - age * DAY_MS - below(DAY_MS))

/** Returns the content of the files of sample/ by name. */
export function sampleFiles(): Record<string, string> {
  random = randomFrom(SEED)
  const telegramUsers = makePlayers()
  const byEagerness = telegramUsers.map((player) => ({ player, order: random() })).toSorted((a, b) => a.order - b.order)
  const players = byEagerness.map(({ player }) => player)
  const files: Record<string, object[]> = { telegramUsers }

  for (const [collection, history, tasks] of [
    ['socialTask', 'socialTasksHistory', social],
    ['dailyTask', 'dailyTasksHistory', daily],
  ] as const) {
    const known = tasks.map((task) => ({ task, id: letters(ALPHANUMERIC, 20) }))
    files[collection] = known.map(({ task, id }) => {
      const { type, priority, title, reward, link } = task
      return { id, image: type, priority, title, reward, createdAt: createdAt(task), ...(link && { link }) }
    })
    files[history] = known.map(({ id, task: { title, link, reward, type } }) => ({
      id,
      title,
      ...(link && { link }),
      reward,
      type,
    }))
    files[`${history}.users`] = known.flatMap(({ id, task }) => {
      const asks = ['email', 'bsc'].includes(task.type) ? task.type : undefined
      return participations(id, task, { players, ...(asks && { asks }) })
    })
  }

  const known = announcements.map((announcement) => ({ announcement, id: letters(ALPHANUMERIC, 20) }))
  const detailFields = ({ description, link, inputText }: Announcement) =>
    description === undefined
      ? { linkType: inputText === undefined ? 'noInput' : 'input', link, ...(inputText !== undefined && { inputText }) }
      : { description }
  files['announcements'] = known.map(({ id, announcement }) => {
    const { title, subtitle, reward, status } = announcement
    const type = announcement.description === undefined ? 'link' : 'desc'
    const pictures = { image: null, icon: null, imageName: '', iconName: '' }
    return {
      id,
      type,
      title,
      subtitle,
      reward,
      status,
      ...pictures,
      createdAt: createdAt(announcement),
      ...detailFields(announcement),
    }
  })
  files['announcementHistory'] = known.map(({ id, announcement }) => {
    const type = announcement.description === undefined ? 'link' : 'desc'
    return { id, title: announcement.title, reward: announcement.reward, type, ...detailFields(announcement) }
  })
  files['announcementHistory.users'] = known.flatMap(({ id, announcement }) =>
    participations(id, announcement, { players, ...(announcement.inputText !== undefined && { asks: 'link' }) }),
  )
  return Object.fromEntries(
    Object.entries(files).map(([name, rows]) => [`${name}.ndjson`, rows.map((row) => `${JSON.stringify(row)}\n`).join('')]),
  )
}

if (import.meta.main) {
  const folder = join(root, 'sample')
  mkdirSync(folder, { recursive: true })
  for (const [file, content] of Object.entries(sampleFiles())) {
    writeFileSync(join(folder, file), content)
    console.log(`sample/${file}: ${content.split('\n').length - 1} lines`)
  }
}

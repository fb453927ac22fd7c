/**
 * The players of the demo: they join, play rounds, do tasks and buy in the shop, all by the bot's calls, as the reference game would send
 * them. As a program it lets two of them play at a time, at the pace of people, until it is ended.
 */
import { setTimeout } from 'node:timers/promises'
import { botOf, type Call, CallFailed } from './demo-calls.ts'
import { randomFrom } from './random.ts'

interface DemoPlayer {
  userId: number
  firstName?: string
  lastName?: string
  username?: string
}

/** These are above the ids of the sample. */
const FIRST_ID = 7_200_000_419
const newcomers: readonly DemoPlayer[] = [
  'Дарія Шевченко dariia_sky',
  'さくら 田中 sakura_hop',
  'Mateus Conceição mateus_c',
  'شیرین کریمی shirin_k',
  '🦊Zoë Lefèvre zoe_fox',
  '美玲 陈 meiling_88',
  'أحمد السيد ahmed_plays',
  'Ayşe Yıldız ayse_star',
  'प्रिया शर्मा priya_pixel',
  'Νίκος Οικονόμου nikos_o',
  '지민 김 jimin_wave',
  'Kofi Mensah🚀 kofi_rocket',
  'יעל כהן yael_k',
  'Linh Nguyễn linh_moon',
  'สมชาย ทองดี somchai_t',
  'Łukasz Wójcik lukasz_w',
  'ნინო ბერიძე nino_b',
  'Юлия Соловьёва yulia_quest',
].map((line, index) => {
  const [firstName = '', lastName = '', username = ''] = line.split(' ')
  return { userId: FIRST_ID + index * 1_913_771, firstName, lastName, username }
})
/** Players who have played before the demo is shown. The others join while it runs. */
const EARLY = 10
/** The best players of the sample play, too, so that the first pages of the list have ledgers. */
const BEST = 10

const PLAYERS_AT_ONCE = 2
/** Seconds between two acts of a player, and from one player to the next. */
const BETWEEN_ACTS = [4, 14] as const
const BETWEEN_PLAYERS = [5, 35] as const
const AFTER_FAILURE = [10, 20] as const
const SEED = 20_261_126
const REFERENCES = 36 ** 8

interface Item {
  id: string
  type: string
  isDone: boolean
  linkType?: string | null
}

interface Play {
  bot: Call
  random: () => number
  /** Waits between two acts. */
  pause: () => Promise<void>
}

/** Lets some players play, one after the other and without a pause, so that a new demo has something to show. */
export async function playAhead(consoleUrl: string, token: string): Promise<void> {
  const bot = botOf(consoleUrl, token)
  const play = { bot, random: randomFrom(SEED), pause: async () => {} }
  for (const player of [...newcomers.slice(0, EARLY), ...(await bestPlayers(bot))]) await visit(play, player)
}

/** Returns players of the sample. A player whose name is not sent keeps it. */
async function bestPlayers(bot: Call): Promise<DemoPlayer[]> {
  const { players } = await bot<{ players: DemoPlayer[] }>('GET', `/leaderboard?limit=${BEST}`)
  return players.map(({ userId }) => ({ userId }))
}

/** One visit: two to six acts. */
async function visit(play: Play, { userId, ...names }: DemoPlayer): Promise<void> {
  await play.bot('PUT', `/players/${userId}`, names)
  const acts = [playRound, playRound, claimTask, claimTask, readNews, buy]
  const count = 2 + Math.floor(play.random() * 5)
  for (let done = 0; done < count; done += 1) {
    const act = done === 0 ? playRound : acts[Math.floor(play.random() * acts.length)]!
    await act(play, `/players/${userId}`).catch(ignoreRefusal)
    await play.pause()
  }
}

/** A player may be blocked, poor or late: the game would tell the player so, and go on. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof CallFailed && error.code !== undefined)) throw error
}

async function playRound({ bot, random }: Play, player: string): Promise<void> {
  const amount = 10 + Math.floor(random() * 150)
  await bot('POST', `${player}/entries`, { amount, cause: 'round', reference: newReference('round', random) })
}

async function buy({ bot, random }: Play, player: string): Promise<void> {
  const price = oneOf(random, [25, 50, 120])
  await bot('POST', `${player}/entries`, { amount: -price, cause: 'shop', reference: newReference('skin', random) })
}

function newReference(what: string, random: () => number): string {
  return `${what}-${Math.floor(random() * REFERENCES).toString(36)}`
}

async function claimTask(play: Play, player: string): Promise<void> {
  const kind = play.random() < 0.5 ? 'social' : 'daily'
  const { tasks } = await play.bot<{ tasks: Item[] }>('GET', `${player}/tasks?collection=${kind}`)
  await claimOne(play, player, { kind, items: tasks })
}

async function readNews(play: Play, player: string): Promise<void> {
  const { announcements, upTo } = await play.bot<{ announcements: Item[]; upTo: number }>('GET', `${player}/announcements`)
  await claimOne(play, player, { kind: 'announcement', items: announcements })
  await play.bot('POST', `${player}/announcements/seen`, { upTo })
}

async function claimOne({ bot, random }: Play, player: string, { kind, items }: { kind: string; items: Item[] }): Promise<void> {
  const open = items.filter(({ isDone }) => !isDone)
  if (open.length === 0) return
  const { id, linkType } = oneOf(random, open)
  const userInput =
    linkType === 'input'
      ? oneOf(random, ['fox 🦊', 'готово ✅', 'https://x.com/i/status/1830000000000000007', '12,480'])
      : undefined
  await bot('POST', `${player}/claims`, { kind, id, ...(userInput !== undefined && { userInput }) })
}

function oneOf<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!
}

/** One of the players after the other, for ever. */
async function playOn({ bot, random }: Pick<Play, 'bot' | 'random'>): Promise<never> {
  const wait = ([least, most]: readonly [number, number]) => setTimeout((least + (most - least) * random()) * 1000)
  const play = { bot, random, pause: () => wait(BETWEEN_ACTS) }
  for (;;) {
    await wait(BETWEEN_PLAYERS)
    try {
      const known = random() < 0.5 ? newcomers : await bestPlayers(bot)
      await visit(play, oneOf(random, known))
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error
      await wait(AFTER_FAILURE) // the console is away or busy
    }
  }
}

if (import.meta.main) {
  const { CONSOLE_URL = '', CONSOLE_TOKEN = '' } = process.env
  const bot = botOf(CONSOLE_URL, CONSOLE_TOKEN)
  await Promise.all(Array.from({ length: PLAYERS_AT_ONCE }, () => playOn({ bot, random: Math.random })))
}

/**
 * The bot's HTTP server: the Mini App, its rounds, and Telegram's updates in webhook mode. The Mini App reads and claims directly at the
 * console; only calls that need the bot's token come here.
 */
import { Hono } from 'hono'
import { z } from 'zod'
import type { Config } from './config.ts'
import { type Console, ConsoleError } from './console.ts'
import { checkInitData, type TelegramUser } from './init-data.ts'
import { TAPS } from './round.ts'
import { createRounds } from './rounds.ts'

const playedRound = z.object({ taps: z.array(z.number()).max(TAPS) })

type Env = { Variables: { player: TelegramUser } }

/** @param consoleClient the console's client, with the bot's token */
export function createServer(config: Config, consoleClient: Console): Hono {
  const rounds = createRounds(config.botToken)
  const app = new Hono()
  app.get('/console-url', (c) => c.text(config.consoleUrl))

  const play = new Hono<Env>()
  play.use('/rounds/*', async (c, next) => {
    const player = checkInitData(/^tma (\S+)$/.exec(c.req.header('authorization') ?? '')?.[1] ?? '', config.botToken)
    if (!player) return c.json({ message: 'Please open the game from its chat.' }, 401)
    c.set('player', player)
    return next()
  })

  play.post('/rounds', (c) => c.json(rounds.begin(c.get('player').id)))

  play.post('/rounds/:id', async (c) => {
    const { id: userId } = c.get('player')
    const reference = c.req.param('id')
    const played = playedRound.safeParse(await c.req.json().catch(() => undefined))
    const score = played.success ? rounds.judge(userId, reference, played.data.taps) : undefined
    if (score === undefined) return c.json({ message: 'This round cannot have been played like this.' }, 400)
    // A reference is paid only once, so a repeated round gets the first answer. The console refuses an entry of 0 points.
    if (score > 0) await consoleClient.enter({ userId, amount: score, cause: 'round', reference })
    return c.json({ score })
  })

  app.route('/', play)
  app.onError((error, c) => {
    const isRefused = error instanceof ConsoleError && error.status >= 400 && error.status < 500 && error.status !== 429
    if (isRefused) return c.json({ message: error.message, code: error.code }, 409)
    console.error(error.message)
    return c.json({ message: 'The game cannot do this right now. Please try again.' }, 502)
  })
  return app
}

/**
 * The bot's own little HTTP server: the Mini App, the rounds that are played in it, and Telegram's updates in webhook mode. What a player
 * may do by themselves (reading, claiming) the Mini App asks of the console directly; here stands only what needs the bot's word.
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

/** @param desk the console, as the bot reaches it */
export function createServer(config: Config, desk: Console): Hono {
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
    // The reference is paid once for ever, so a round that is sent again gets the first answer. No points are no entry.
    if (score > 0) await desk.enter({ userId, amount: score, cause: 'round', reference })
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

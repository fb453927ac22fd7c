/**
 * The bot's own little HTTP server: the Mini App, the rounds that are played in it, and Telegram's updates in webhook mode. What a player
 * may do by themselves (reading, claiming) the Mini App asks of the console directly; here stands only what needs the bot's word.
 */
import { Hono } from 'hono'
import { z } from 'zod'
import type { Config } from './config.ts'
import { checkInitData, type TelegramUser } from './init-data.ts'
import { TAPS } from './round.ts'
import { createRounds } from './rounds.ts'

const playedRound = z.object({ taps: z.array(z.number()).max(TAPS) })

type Env = { Variables: { player: TelegramUser } }

export function createServer(config: Config): Hono {
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
    const played = playedRound.safeParse(await c.req.json().catch(() => undefined))
    const score = played.success ? rounds.judge(userId, c.req.param('id'), played.data.taps) : undefined
    if (score === undefined) return c.json({ message: 'This round cannot have been played like this.' }, 400)
    return c.json({ score })
  })

  app.route('/', play)
  app.onError((error, c) => {
    console.error(error.message)
    return c.json({ message: 'The game cannot do this right now. Please try again.' }, 502)
  })
  return app
}

/** The reference game (examples/game) beside a console: its bot and the stand-in for Telegram, each a process as in the demo. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { ConsoleServer } from './test.ts'

/** The console is started with it, so that it believes whom the stand-in signs. */
export const TELEGRAM_BOT_TOKEN = '7000000000:AAreference-game'

const ROOT = resolve(import.meta.dirname, '../..')

/** A call of Telegram's `method` that goes wrong. */
export interface Fault {
  kind: '429' | '403' | '500' | 'hang'
  method: string
}

export interface BotOptions {
  isWebhook?: boolean
  /** From the bot's very first call on. */
  faults?: Fault[]
  telegramToken?: string
}

export interface ReferenceGame {
  /** Where one plays a player. */
  playerPage: string
  /** The stand-in's next calls go wrong like this, each fault once. */
  misbehave(faults: Fault[]): Promise<void>
  /** The lines of errors that the bot and the stand-in have printed. */
  said: readonly string[]
  /** How the bot has ended by itself. */
  botEnded: Promise<number | null>
  stop(): Promise<void>
}

/** @param session of an admin, who makes the bot's token */
export async function startReferenceGame(
  server: ConsoleServer,
  { session, isWebhook = false, faults = [], telegramToken = TELEGRAM_BOT_TOKEN }: BotOptions & { session: string },
): Promise<ReferenceGame> {
  const CONSOLE_TOKEN = await makeToken(server, session)
  const started: ChildProcess[] = []
  const said: string[] = []
  const start = async (script: string, env: Record<string, string>): Promise<{ address: string; child: ChildProcess }> => {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, [join(ROOT, 'examples/game/src', script)], {
      env: { PATH, HOME, TELEGRAM_BOT_TOKEN, CONSOLE_URL: server.url, CONSOLE_TOKEN, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.push(child)
    createInterface({ input: child.stderr }).on('line', (line) => said.push(line))
    for await (const line of createInterface({ input: child.stdout })) {
      const address = / is ready at (http:\S+)$/.exec(line)?.[1]
      if (address === undefined) continue
      child.stdout.resume()
      return { address, child }
    }
    throw new Error(`${script} ended before it was ready: ${said.join('\n')}`)
  }
  const { address: playerPage } = await start('stand-in/main.ts', {})
  const misbehave = async (next: Fault[]): Promise<void> => {
    const body = JSON.stringify(next.map((fault) => ({ ...fault, times: 1 })))
    const answer = await fetch(`${playerPage}/faults`, { method: 'PUT', body })
    if (!answer.ok) throw new Error(`PUT /faults: ${answer.status}`)
  }
  await misbehave(faults)
  const { child: bot } = await start('main.ts', {
    TELEGRAM_API_URL: playerPage,
    TELEGRAM_BOT_TOKEN: telegramToken,
    WEBHOOK: isWebhook ? 'on' : '',
  })
  const botEnded = once(bot, 'exit').then(([code]) => code as number | null)
  return {
    playerPage,
    misbehave,
    said,
    botEnded,
    async stop() {
      for (const child of started.toReversed()) {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      }
    },
  }
}

/** @param session of an admin */
export async function makeToken({ url }: ConsoleServer, session: string): Promise<string> {
  const headers = { cookie: `session=${session}`, origin: url, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: `game ${Date.now()}`, scope: 'play' })
  const answer = await fetch(`${url}/api/bot-tokens`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`POST /api/bot-tokens: ${answer.status}`)
  return ((await answer.json()) as { token: string }).token
}

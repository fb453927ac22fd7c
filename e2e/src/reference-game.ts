/** Starts the reference game (examples/game) with a console: its bot and the stand-in for Telegram, each as a process, as in the demo. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { ConsoleServer } from './test.ts'

/** The bot's Telegram token. The console is started with it too, so that it accepts initData that the stand-in signs. */
export const TELEGRAM_BOT_TOKEN = '7000000000:AAreference-game'

const ROOT = resolve(import.meta.dirname, '../..')

/** How one call of Telegram's `method` fails. */
export interface Fault {
  kind: '429' | '403' | '500' | 'hang'
  method: string
}

export interface BotOptions {
  isWebhook?: boolean
  /** Failures of the bot's first calls. */
  faults?: Fault[]
  telegramToken?: string
}

export interface ReferenceGame {
  /** The address of the page on which a test acts as a player. */
  playerPage: string
  /** Makes the next calls of Telegram fail, once for each fault. */
  injectFaults(faults: Fault[]): Promise<void>
  /** The lines that the bot and the stand-in have written to stderr. */
  errorLines: readonly string[]
  /** Resolves to the bot's exit code when it has ended. */
  botEnded: Promise<number | null>
  stop(): Promise<void>
}

/** @param session the session token of an admin, who creates the bot token */
export async function startReferenceGame(
  server: ConsoleServer,
  { session, isWebhook = false, faults = [], telegramToken = TELEGRAM_BOT_TOKEN }: BotOptions & { session: string },
): Promise<ReferenceGame> {
  const CONSOLE_TOKEN = await makeToken(server, session)
  const started: ChildProcess[] = []
  const errorLines: string[] = []
  const start = async (script: string, env: Record<string, string>): Promise<{ address: string; child: ChildProcess }> => {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, [join(ROOT, 'examples/game/src', script)], {
      env: { PATH, HOME, TELEGRAM_BOT_TOKEN, CONSOLE_URL: server.url, CONSOLE_TOKEN, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.push(child)
    createInterface({ input: child.stderr }).on('line', (line) => errorLines.push(line))
    for await (const line of createInterface({ input: child.stdout })) {
      const address = / is ready at (http:\S+)$/.exec(line)?.[1]
      if (address === undefined) continue
      child.stdout.resume()
      return { address, child }
    }
    throw new Error(`${script} ended before it was ready: ${errorLines.join('\n')}`)
  }
  const { address: playerPage } = await start('stand-in/main.ts', {})
  const injectFaults = async (next: Fault[]): Promise<void> => {
    const body = JSON.stringify(next.map((fault) => ({ ...fault, times: 1 })))
    const answer = await fetch(`${playerPage}/faults`, { method: 'PUT', body })
    if (!answer.ok) throw new Error(`PUT /faults: ${answer.status}`)
  }
  await injectFaults(faults)
  const { child: bot } = await start('main.ts', {
    TELEGRAM_API_URL: playerPage,
    TELEGRAM_BOT_TOKEN: telegramToken,
    TELEGRAM_TIMEOUT_SECONDS: '3',
    WEBHOOK: isWebhook ? 'on' : '',
  })
  const botEnded = once(bot, 'exit').then(([code]) => code as number | null)
  return {
    playerPage,
    injectFaults,
    errorLines,
    botEnded,
    async stop() {
      for (const child of started.toReversed()) {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      }
    },
  }
}

/** Creates a bot token of the scope `play`. @param session the session token of an admin */
export async function makeToken({ url }: ConsoleServer, session: string): Promise<string> {
  const headers = { cookie: `session=${session}`, origin: url, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: `game ${Date.now()}`, scope: 'play' })
  const answer = await fetch(`${url}/api/bot-tokens`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`POST /api/bot-tokens: ${answer.status}`)
  return ((await answer.json()) as { token: string }).token
}

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

/** The stand-in for Telegram. */
export interface StandIn {
  address: string
  errorLines: readonly string[]
  stop(): Promise<void>
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

interface Script {
  address: string
  child: ChildProcess
  stop(): Promise<void>
}

/** Starts a script of the game and waits until it is ready. @param errorLines gets the lines that it writes to stderr */
async function startScript(script: string, env: Record<string, string>, errorLines: string[]): Promise<Script> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [join(ROOT, 'examples/game/src', script)], {
    env: { PATH, HOME, TELEGRAM_BOT_TOKEN, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  createInterface({ input: child.stderr }).on('line', (line) => errorLines.push(line))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const address = / is ready at (http:\S+)$/.exec(line)?.[1]
    if (address === undefined) continue
    child.stdout.resume()
    return { address, child, stop }
  }
  throw new Error(`${script} ended before it was ready: ${errorLines.join('\n')}`)
}

/** Starts the stand-in without a console beside the phone: for a console that is started afterwards and sends through it. */
export async function startStandIn(): Promise<StandIn> {
  const errorLines: string[] = []
  return { ...(await startScript('stand-in/main.ts', {}, errorLines)), errorLines }
}

/**
 * @param session the session token of an admin, who creates the bot token
 * @param standIn one that runs already and goes on running
 */
export async function startReferenceGame(
  server: ConsoleServer,
  {
    session,
    standIn,
    isWebhook = false,
    faults = [],
    telegramToken = TELEGRAM_BOT_TOKEN,
  }: BotOptions & { session: string; standIn?: StandIn },
): Promise<ReferenceGame> {
  const console = { CONSOLE_URL: server.url, CONSOLE_TOKEN: await makeToken(server, session) }
  const errorLines: string[] = []
  const ownStandIn = standIn ? undefined : await startScript('stand-in/main.ts', console, errorLines)
  const playerPage = standIn?.address ?? ownStandIn!.address
  const injectFaults = async (next: Fault[]): Promise<void> => {
    const body = JSON.stringify(next.map((fault) => ({ ...fault, times: 1 })))
    const answer = await fetch(`${playerPage}/faults`, { method: 'PUT', body })
    if (!answer.ok) throw new Error(`PUT /faults: ${answer.status}`)
  }
  await injectFaults(faults)
  const bot = await startScript(
    'main.ts',
    {
      ...console,
      TELEGRAM_API_URL: playerPage,
      TELEGRAM_BOT_TOKEN: telegramToken,
      TELEGRAM_TIMEOUT_SECONDS: '3',
      WEBHOOK: isWebhook ? 'on' : '',
    },
    errorLines,
  )
  const botEnded = once(bot.child, 'exit').then(([code]) => code as number | null)
  return {
    playerPage,
    injectFaults,
    errorLines,
    botEnded,
    async stop() {
      await bot.stop()
      await ownStandIn?.stop()
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

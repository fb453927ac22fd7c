/** The reference game (examples/game) beside a console: its bot and the stand-in for Telegram, each a process as in the demo. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { ConsoleServer } from './test.ts'

/** The console is started with it, so that it believes whom the stand-in signs. */
export const TELEGRAM_BOT_TOKEN = '7000000000:AAreference-game'

const ROOT = resolve(import.meta.dirname, '../..')

export interface ReferenceGame {
  /** Where one plays a player. */
  playerPage: string
  /** The stand-in's next calls of `method` go wrong. */
  misbehave(fault: { kind: '429' | '403' | '500' | 'hang'; times: number; method?: string }): Promise<void>
  stop(): Promise<void>
}

/** @param session of an admin, who makes the bot's token */
export async function startReferenceGame(
  server: ConsoleServer,
  { session, isWebhook = false }: { session: string; isWebhook?: boolean },
): Promise<ReferenceGame> {
  const CONSOLE_TOKEN = await makeToken(server, session)
  const started: ChildProcess[] = []
  const start = async (script: string, env: Record<string, string>): Promise<string> => {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, [join(ROOT, 'examples/game/src', script)], {
      env: { PATH, HOME, TELEGRAM_BOT_TOKEN, CONSOLE_URL: server.url, CONSOLE_TOKEN, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    started.push(child)
    for await (const line of createInterface({ input: child.stdout })) {
      const address = / is ready at (http:\S+)$/.exec(line)?.[1]
      if (address === undefined) continue
      child.stdout.resume()
      return address
    }
    throw new Error(`${script} ended before it was ready`)
  }
  const playerPage = await start('stand-in/main.ts', {})
  await start('main.ts', { TELEGRAM_API_URL: playerPage, WEBHOOK: isWebhook ? 'on' : '' })
  return {
    playerPage,
    async misbehave(fault) {
      const answer = await fetch(`${playerPage}/fault`, { method: 'PUT', body: JSON.stringify(fault) })
      if (!answer.ok) throw new Error(`PUT /fault: ${answer.status}`)
    },
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

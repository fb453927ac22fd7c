/** The Mini App's servers: the console, as the player, and the bot's server, for what needs the bot's token. */
import { QueryClient } from '@tanstack/react-query'
import { type Console, consoleAt, ConsoleError } from '#src/console.ts'
import { initData } from './telegram.ts'

const authorization = `tma ${initData}`

const consoleUrl = fetch('/console-url').then((answer) => answer.text())
/** The console's client. `me` is the player of the initData. */
export const consoleClient: Promise<Console> = consoleUrl.then((url) => consoleAt(url, authorization))

async function askBot<T>(path: string, body: object): Promise<T> {
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const result = (await answer.json()) as T & { message: string; code?: string }
  if (!answer.ok) throw new ConsoleError(result.message, result.code ?? 'REFUSED', answer.status)
  return result
}

export const beginRound = () => askBot<{ id: string; seed: number }>('/rounds', {})
export const endRound = (id: string, taps: number[]) => askBot<{ score: number }>(`/rounds/${id}`, { taps })

export const BLOCKED = 'You are blocked: nothing that you win or claim is paid. Please ask in the chat.'

/**
 * Returns the message for an error. The console's own text for a blocked player speaks about the player, so it is replaced by one that
 * addresses the player.
 */
export function sentenceOf(error: Error | null): string | undefined {
  return error instanceof ConsoleError && error.code === 'PLAYER_BLOCKED' ? BLOCKED : error?.message
}

const RETRIES = 3
/** Errors 4xx are final. Other failures are retried, also claims and rounds, because each counts only once. */
const retry = (failures: number, error: Error): boolean =>
  failures < RETRIES && !(error instanceof ConsoleError && error.status >= 400 && error.status < 500)

export const queryClient = new QueryClient({ defaultOptions: { queries: { retry }, mutations: { retry } } })

/** Reloads everything after a round or claim: balance, rank, ledger and completed items have changed. */
export const refresh = () => queryClient.invalidateQueries()

/** Whom the Mini App asks: the console in the player's own name, and the bot's server for what needs the bot's word. */
import { QueryClient } from '@tanstack/react-query'
import { type Console, consoleAt, ConsoleError } from '#src/console.ts'
import { initData } from './telegram.ts'

const authorization = `tma ${initData}`

const consoleUrl = fetch('/console-url').then((answer) => answer.text())
/** `me` is whoever the initData says. */
export const desk: Promise<Console> = consoleUrl.then((url) => consoleAt(url, authorization))

async function askBot<T>(path: string, body: object): Promise<T> {
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const said = (await answer.json()) as T & { message: string; code?: string }
  if (!answer.ok) throw new ConsoleError(said.message, said.code ?? 'REFUSED', answer.status)
  return said
}

export const beginRound = () => askBot<{ id: string; seed: number }>('/rounds', {})
export const endRound = (id: string, taps: number[]) => askBot<{ score: number }>(`/rounds/${id}`, { taps })

export const BLOCKED = 'You are blocked: nothing that you win or claim is paid. Please ask in the chat.'

/** What the player is told of a refusal: the console speaks of players, and this one is meant. */
export function sentenceOf(error: Error | null): string | undefined {
  return error instanceof ConsoleError && error.code === 'PLAYER_BLOCKED' ? BLOCKED : error?.message
}

const RETRIES = 3
/** What was refused stays refused. What got no answer is sent again, claims and rounds, too: they count once however often they come. */
const retry = (failures: number, error: Error): boolean =>
  failures < RETRIES && !(error instanceof ConsoleError && error.status >= 400 && error.status < 500)

export const queryClient = new QueryClient({ defaultOptions: { queries: { retry }, mutations: { retry } } })

/** After a round or a claim: balance, rank, ledger and what is done have changed. */
export const refresh = () => queryClient.invalidateQueries()

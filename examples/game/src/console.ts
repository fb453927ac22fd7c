/** The typed client of the console's contract. This is all that the game uses of the console. */
import { game } from '@arcade/contract/game/calls'
import { ledger } from '@arcade/contract/ledger/calls'
import { messages } from '@arcade/contract/messages/calls'
import { createORPCClient, ORPCError } from '@orpc/client'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'

const calls = { ...game, ...ledger, ...messages }

export type Console = ContractRouterClient<typeof calls>

/** An error of the console. Its `message` is for people. */
export class ConsoleError extends Error {
  readonly code: string
  readonly status: number

  constructor(message: string, code: string, status: number, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = status
  }
}

/**
 * Returns a client of the console. Every call rejects with a ConsoleError. @param authorization `Bearer TOKEN` for the bot, `tma INITDATA`
 * for a player's own client
 */
export function consoleAt(url: string, authorization: string): Console {
  const link = new OpenAPILink(calls, {
    url,
    headers: { authorization },
    customErrorResponseBodyDecoder: (body, { status }) => new ORPCError('REFUSED', { status, data: body }),
    interceptors: [
      async (call) => {
        try {
          return await call.next()
        } catch (error) {
          throw asConsoleError(error)
        }
      },
    ],
  })
  return createORPCClient(link)
}

function asConsoleError(error: unknown): ConsoleError {
  if (!(error instanceof ORPCError)) return new ConsoleError('The console cannot be reached.', 'UNREACHABLE', 0, { cause: error })
  const { code = 'UNKNOWN', message = 'The console failed.' } = (error.data ?? {}) as { code?: string; message?: string }
  return new ConsoleError(message, code, error.status, { cause: error })
}

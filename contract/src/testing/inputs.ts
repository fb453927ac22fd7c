/** Helpers for tests of a call's input: the parsed value, or one message for each invalid field. */
import type { AnyContractProcedure } from '@orpc/contract'
import type { ZodType } from 'zod'

export type Messages = Record<string, string>

/** Returns the first message of each field, by its name in the API; `''` is the whole input. Empty for valid input. */
export function messagesOf(schema: ZodType, input: unknown): Messages {
  const messages: Messages = {}
  for (const { path, message } of schema.safeParse(input).error?.issues ?? []) messages[path.join('.')] ??= message
  return messages
}

/** Returns the schema of a call's input. @throws Error if the call has no input */
export function inputOf(call: AnyContractProcedure): ZodType {
  const { inputSchema } = call['~orpc']
  if (!inputSchema) throw new Error('This call takes no input.')
  return inputSchema as ZodType
}

/** Returns `input` with the changes; undefined removes a field. */
export function changed(input: object, changes: object): object {
  return Object.fromEntries(Object.entries({ ...input, ...changes }).filter(([, value]) => value !== undefined))
}

/** Returns a text of this length. */
export function text(length: number): string {
  return 'x'.repeat(length)
}

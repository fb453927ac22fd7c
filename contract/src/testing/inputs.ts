/** What a call makes of an input, as the server and the forms see it: the value, or one message a field. */
import type { AnyContractProcedure } from '@orpc/contract'
import type { ZodType } from 'zod'

export type Messages = Record<string, string>

/** The first message of each field, by its wire name; `''` is the input as a whole. Empty for an input that is accepted. */
export function messagesOf(schema: ZodType, input: unknown): Messages {
  const messages: Messages = {}
  for (const { path, message } of schema.safeParse(input).error?.issues ?? []) messages[path.join('.')] ??= message
  return messages
}

/** The schema of what a call takes. @throws Error for a call that takes nothing */
export function inputOf(call: AnyContractProcedure): ZodType {
  const { inputSchema } = call['~orpc']
  if (!inputSchema) throw new Error('This call takes no input.')
  return inputSchema as ZodType
}

/** `input` with other values; undefined leaves a field out. */
export function changed(input: object, changes: object): object {
  return Object.fromEntries(Object.entries({ ...input, ...changes }).filter(([, value]) => value !== undefined))
}

/** A text of so many characters. */
export function text(length: number): string {
  return 'x'.repeat(length)
}

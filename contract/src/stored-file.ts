/** The call for an image of an announcement, used by both the console and the game. */
import { z } from 'zod'

export const storedFileInput = z.strictObject({ name: z.string().min(1).max(200), size: z.enum(['thumb']).optional() })
export type StoredFileInput = z.infer<typeof storedFileInput>

/** The body is a stream on the server, and a Blob for a typed client. */
export const storedFileOutput = z.object({
  headers: z.record(z.string(), z.string()),
  body: z.custom<unknown>((value) => value instanceof Object),
})

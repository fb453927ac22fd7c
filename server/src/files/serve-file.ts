/** Serves an announcement's image to operators and to the game. */
import type { StoredFileInput, storedFileOutput } from '@arcade/contract/stored-file'
import type { z } from 'zod'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Files } from './files.ts'

/** Returns the key of the file that a path names. */
export function keyOf({ name }: Pick<StoredFileInput, 'name'>): string {
  return `announcements/${name}`
}

/** @throws Failure NOT_FOUND */
export async function serveFile(
  files: Files,
  { name, size }: StoredFileInput,
  context: CallContext,
): Promise<z.infer<typeof storedFileOutput>> {
  const key = keyOf({ name })
  const etag = `"${size ?? 'file'}-${name}"` // a key is never used again
  // Browsers ask again each time, so that nobody sees a file after it was withdrawn or the session has ended.
  const headers = { etag, 'cache-control': 'private, no-cache', 'content-security-policy': "default-src 'none'; sandbox" }
  if (context.hasVersion(etag) && (await files.has(key))) return { headers, body: null }
  const file = await files.open(key, size)
  if (!file) throw new Failure('NOT_FOUND')
  const { mediaType, lengthBytes, body } = file
  return {
    headers: {
      ...headers,
      'content-type': mediaType,
      'content-length': String(lengthBytes),
      'content-disposition': `${mediaType.startsWith('image/') ? 'inline' : 'attachment'}; filename="${savedName(name, mediaType)}"`,
    },
    body,
  }
}

/** Returns the name under which a browser saves the file: that of the key, without its time. A thumbnail is always WebP. */
function savedName(name: string, mediaType: string): string {
  const plain = name.replace(/^\d{13}_/, '')
  return mediaType === 'image/webp' && !plain.endsWith('.webp') ? `${plain}.webp` : plain
}

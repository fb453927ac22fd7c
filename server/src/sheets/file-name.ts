/** File names of downloads that say what they hold: the list, the item and the date (§7 names only the downloads of whole lists). */

/** More characters of one part say nothing more, and file systems allow 255 bytes. */
const MAX_PART_LENGTH = 40

/** Returns a name such as `history-Follow-us-filtered-2026-05-05.xlsx`, with the day in UTC. */
export function datedFileName(...parts: readonly string[]): string {
  const day = new Date().toISOString().slice(0, 10)
  return `${[...parts.map(plain), day].filter((part) => part !== '').join('-')}.xlsx`
}

/** Keeps letters, marks and digits of every script, because other characters may mean something to a file system or a header. */
function plain(text: string): string {
  const words = text.normalize('NFC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const [part = ''] = new RegExp(`^.{0,${MAX_PART_LENGTH}}`, 'u').exec(words.join('-')) ?? [] // counts code points, which it never splits
  return part.replace(/-$/, '')
}

/** Returns the header of a download (RFC 6266), whose first name is for clients that only read ASCII. */
export function contentDisposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^ -~]+/g, '_')
  const own = ascii === fileName ? '' : `; filename*=UTF-8''${encodeURIComponent(fileName)}`
  return `attachment; filename="${ascii}"${own}`
}

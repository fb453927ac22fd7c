/** A backup in one file of text, for tests to keep: its parts by their names. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Place } from '#src/backup/place.ts'

/** The file of the kept backup of a migration's step, or of a PostgreSQL (`postgres-17`). */
export function keptBackupFile(step: string): string {
  return fileURLToPath(new URL(`./kept-backups/${step}.json`, import.meta.url))
}

/** A place whose parts are in memory, to be kept by `keep` and found again by `readKeptBackup`. */
export function memoryPlace(parts: Record<string, string> = {}): Place & { keep(file: string): Promise<void> } {
  return {
    address: 'memory',
    async put(name, bytes) {
      parts[name] = Buffer.from(bytes).toString()
    },
    async read(name) {
      const text = parts[name]
      return text === undefined ? undefined : Buffer.from(text)
    },
    async remove(name) {
      delete parts[name]
    },
    names: async () => Object.keys(parts),
    removeFolder: async () => undefined,
    below: () => memoryPlace(),
    keep: (file) => writeFile(file, `${JSON.stringify(parts, null, 2)}\n`),
  }
}

export async function readKeptBackup(step: string): Promise<Place> {
  return memoryPlace(JSON.parse(await readFile(keptBackupFile(step), 'utf8')) as Record<string, string>)
}

/** Backups that are kept as test data, each in one JSON file: an object from a part's name to its text. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Place } from '#src/backup/place.ts'

/** Returns the path of the kept backup of a migration (`0029_comments`) or a PostgreSQL version (`postgres-17`). */
export function keptBackupFile(step: string): string {
  return fileURLToPath(new URL(`./kept-backups/${step}.json`, import.meta.url))
}

/** A backup place in memory. `keep` writes its parts to a file, which `readKeptBackup` reads. */
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

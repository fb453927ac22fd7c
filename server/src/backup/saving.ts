/** Estimates how much of a backup is saved, from the sizes of its tables. */
import type { SavedTable } from './manifest.ts'
import type { TableToSave } from './saved-tables.ts'
import { percentOf, type Watch } from './watch.ts'

/** Measures how far saving is, in bytes on the disk of PostgreSQL. Each table counts twice: for its rows and for their checksum. */
export interface Saving {
  copied(table: TableToSave, part: SavedTable['parts'][number]): void
  saved(table: TableToSave): void
  summed(table: TableToSave): void
  copiedFile(part: { bytes: number }): void
  throwIfAborted(): void
}

/** The size with which a file counts before it is read: about that of a picture. */
const FILE_BYTES = 256 * 1024

export function countSaved({
  tables,
  files,
  sizes,
  watch,
}: {
  tables: TableToSave[]
  files: number
  sizes: ReadonlyMap<string, number>
  watch: Watch
}): Saving {
  const weightOf = ({ name }: TableToSave): number => sizes.get(name) ?? 0
  const total = 2 * tables.reduce((sum, table) => sum + weightOf(table), 0) + files * FILE_BYTES
  const left = { tables: tables.length, files }
  let done = 0
  let bytes = 0
  /** The bytes of the table that is being copied which are counted so far. */
  let ofTable = 0
  const report = (): void => {
    const step = left.tables > 0 ? 'tables' : left.files > 0 ? 'files' : 'sums'
    watch.report({ step, percent: percentOf(done + ofTable, total), bytes })
  }
  report()
  return {
    copied(table, part) {
      bytes += part.bytes
      ofTable = Math.min(weightOf(table), ofTable + part.textBytes)
      report()
    },
    saved(table) {
      left.tables -= 1
      done += weightOf(table)
      ofTable = 0
      report()
    },
    summed(table) {
      done += weightOf(table)
      report()
    },
    copiedFile(part) {
      left.files -= 1
      bytes += part.bytes
      done += FILE_BYTES
      report()
    },
    throwIfAborted: () => watch.signal.throwIfAborted(),
  }
}

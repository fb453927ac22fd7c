/** Reports the progress of a verification: checksums, then the trial restore, then the audit. */
import { type Manifest, type Part, type SavedTable, sizeOf } from './manifest.ts'
import { percentOf, type Watch } from './watch.ts'

/** At which per cent each step begins: the trial restore takes most of the time. */
const BEGINS = { parts: 0, load: 15, audit: 85 }
const ENDS = { parts: BEGINS.load, load: BEGINS.audit, audit: 100 }

/**
 * Returns a function for each step. Call it with the manifest when the step begins; it returns the function to call after each part or
 * entry. All of them throw once the work is aborted.
 */
export function countVerified({ signal, report }: Watch) {
  const at = (step: keyof typeof BEGINS, done: number, { total, bytes }: { total: number; bytes: number }): void => {
    signal.throwIfAborted()
    const ofStep = (percentOf(done, total) * (ENDS[step] - BEGINS[step])) / 100
    report({ step, percent: BEGINS[step] + Math.floor(ofStep), bytes })
  }
  return {
    beginParts(manifest: Manifest) {
      const total = sizeOf(manifest)
      let bytes = 0
      at('parts', bytes, { total, bytes })
      return (part: Part): void => {
        bytes += part.bytes
        at('parts', bytes, { total, bytes })
      }
    },
    beginLoad({ tables }: Manifest) {
      const total = tables.flatMap(({ parts }) => parts).reduce((sum, { textBytes }) => sum + textBytes, 0)
      let [done, bytes] = [0, 0]
      at('load', done, { total, bytes })
      return (part: SavedTable['parts'][number]): void => {
        done += part.textBytes
        bytes += part.bytes
        at('load', done, { total, bytes })
      }
    },
    beginAudit(manifest: Manifest) {
      const total = manifest.tables.find(({ name }) => name === 'audit_entries')?.rows ?? 0
      const bytes = sizeOf(manifest)
      at('audit', 0, { total, bytes })
      return (entries: number): void => at('audit', entries, { total, bytes })
    },
  }
}

/**
 * Who gives way when the processors are busy: what reads or writes whole tables, and the threads that compress and hash, take what requests
 * leave over. Only Linux knows priorities of threads and of PostgreSQL's sessions; elsewhere, and where they are forbidden, all are equal.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises'
import os from 'node:os'

/** About a tenth of an equal share, so that what others wait for is released soon. Nobody but root may take it back. */
export const NICENESS = 10
/** A third of an equal share, for what somebody waits for. */
export const AWAITED_NICENESS = 5

/** Lets a process of this machine give way to others. */
export async function letGiveWay(pid: number, { isAwaited = false } = {}): Promise<void> {
  const niceness = isAwaited ? AWAITED_NICENESS : NICENESS
  setPriority(pid, niceness)
  // Linux shares the processors out among sessions first, if it groups by them: then this alone counts for PostgreSQL's processes, as each has one.
  await writeFile(`/proc/${pid}/autogroup`, String(niceness)).catch(() => {})
}

/** Lets libuv's threads, which compress and hash, give way to the one that answers requests. They are there once they were used. */
export async function letThreadsGiveWay(): Promise<void> {
  const threads = await readdir('/proc/self/task').catch(() => [])
  for (const thread of threads) {
    const name = await readFile(`/proc/self/task/${thread}/comm`, 'utf8').catch(() => '')
    if (name.startsWith('libuv-worker')) setPriority(Number(thread), NICENESS)
  }
}

function setPriority(id: number, niceness: number): void {
  try {
    os.setPriority(id, Math.max(os.getPriority(id), niceness))
  } catch {
    // gone, or not ours
  }
}

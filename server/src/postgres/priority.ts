/**
 * Lowers the priority of work that nobody waits for: reading or writing whole tables, and the threads that compress and hash. Only Linux has
 * priorities for threads and for PostgreSQL's sessions. On other systems, and where they are forbidden, all work has the same priority.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises'
import os from 'node:os'

/** A niceness of about a tenth of an equal share: still enough to release soon what others wait for. Only root can undo it. */
export const NICENESS = 10
/** A niceness of a third of an equal share, for work that an operator waits for. */
export const AWAITED_NICENESS = 5

/** Lowers the priority of a process on this machine. */
export async function lowerProcessPriority(pid: number, { isAwaited = false } = {}): Promise<void> {
  const niceness = isAwaited ? AWAITED_NICENESS : NICENESS
  setPriority(pid, niceness)
  // If Linux groups processes by session (autogroup), only the group's niceness counts: each PostgreSQL process has a session of its own.
  await writeFile(`/proc/${pid}/autogroup`, String(niceness)).catch(() => {})
}

/** Lowers the priority of libuv's threads, which compress and hash, below the thread that answers requests. They exist after their first use. */
export async function lowerThreadPriority(): Promise<void> {
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
    // the thread has ended, or is not ours
  }
}

/**
 * A person's act counts only if the person may still do it at the end. Each transaction of the act asks again right before it commits, and
 * the transaction that takes the rights away waits for that commit (`notifyAndWaitForActs` in session-notices.ts).
 */
import type { Transaction } from 'kysely'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { Failure } from '#src/calls.ts'
import { withCommitCheck } from '#src/db/before-commit.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { lockRightsShared } from '#src/db/transaction-locks.ts'
import type { SessionKey } from './find-session.ts'
import type { Sessions } from './sessions.ts'

interface Services {
  database: Pick<Database, 'transaction'>
  sessions: Pick<Sessions, 'holdersOf' | 'hasEnded'>
}

interface ActGuard {
  session: SessionKey
  /** Throws if the person may not do it. */
  refuse: (user: SessionUser) => void
}

/**
 * Runs the act of a person. An act without a transaction is checked after it.
 * @throws Failure SIGNED_OUT if the session has ended meanwhile, and what `refuse` throws
 */
export async function whileAllowed<T>(
  { database, sessions }: Services,
  { session, refuse }: ActGuard,
  act: () => Promise<T>,
): Promise<T> {
  let isChecked = false
  /** True when the act has ended its own session, and for what it goes on doing in the background after its answer. */
  let isOver = false
  const check = async (tx: Transaction<Tables>): Promise<void> => {
    isOver ||= sessions.hasEnded(tx, session.sessionId)
    if (isOver) return
    await lockRightsShared(tx, session.userId)
    const user = (await sessions.holdersOf([session], tx)).get(session.sessionId)
    if (!user) throw new Failure('SIGNED_OUT')
    refuse(user)
    isChecked = true
  }
  try {
    const result = await withCommitCheck(check, act)
    if (!isChecked && !isOver) await database.transaction(check)
    return result
  } finally {
    isOver = true
  }
}

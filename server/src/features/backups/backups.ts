/** The calls with which admins see backups, start, cancel and verify them. */
import type { contract } from '@arcade/contract/contract'
import { actOf } from '#src/audit/audit.ts'
import type { Backups } from '#src/backup/backups.ts'
import { Failure, type Handlers, signedIn } from '#src/calls.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'

interface Services {
  backups: Backups
  attempts: Attempts
}

export function backupsHandlers({ backups, attempts }: Services): Handlers<typeof contract.backups> {
  /** Counts what an admin begins. What is refused, such as a second backup at the same time, does not count. */
  async function counted<T>(userId: string, begin: () => Promise<T>): Promise<T> {
    await attempts.count(limits.backupsOfUser, userId)
    try {
      return await begin()
    } catch (error) {
      if (error instanceof Failure) await attempts.uncount(limits.backupsOfUser, userId).catch(() => undefined)
      throw error
    }
  }

  return {
    state: () => backups.state(),

    async start(_input, context) {
      const { id: userId } = signedIn(context)
      return { success: true, id: await counted(userId, () => backups.start(actOf(context), userId)) }
    },

    async verify({ id }, context) {
      await counted(signedIn(context).id, () => backups.verify(actOf(context), id))
      return { success: true }
    },

    async cancel({ id }, context) {
      await backups.cancel(actOf(context), id)
      return { success: true }
    },
  }
}

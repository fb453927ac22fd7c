/** The dashboard's calls (§2, §3): its figures now, what happened over time, and both as they change. */
import type { contract } from '@arcade/contract/contract'
import type { Handlers } from '#src/calls.ts'
import type { FigureSource } from './figures.ts'
import type { Live } from './live.ts'

export function dashboardHandlers({ figures, live }: { figures: FigureSource; live: Live }): Handlers<typeof contract.dashboard> {
  return {
    get: () => figures.metrics(),
    activity: ({ range }) => figures.activity(range),
    events: (followed, context) => live.open(followed, context),
  }
}

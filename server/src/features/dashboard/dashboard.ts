/** The dashboard's calls (§2, §3): current figures, activity over time, and a stream of both as they change. */
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

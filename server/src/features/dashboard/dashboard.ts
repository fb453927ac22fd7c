/** The dashboard's calls (§2, §3): figures, activity over time, what happened since the caller looked last, alerts, and a stream of changes. */
import type { contract } from '@arcade/contract/contract'
import { type Handlers, signedIn } from '#src/calls.ts'
import type { AlertSource } from './alerts.ts'
import type { FigureSource } from './figures.ts'
import type { Live } from './live.ts'
import type { TodaySource } from './today.ts'

interface Services {
  figures: FigureSource
  today: TodaySource
  alerts: AlertSource
  live: Live
}

export function dashboardHandlers({ figures, today, alerts, live }: Services): Handlers<typeof contract.dashboard> {
  return {
    get: () => figures.metrics(),
    activity: ({ range }) => figures.activity(range),
    today: (_input, context) => today.read(signedIn(context).id),
    async look(_input, context) {
      await today.look(signedIn(context).id)
      return { success: true }
    },
    alerts: async (_input, context) => ({ alerts: await alerts.read(signedIn(context).permissions) }),
    events: (followed, context) => live.open(followed, context),
  }
}

/** All calls of browsers, bots and players' clients. */
import { account } from './account/calls.ts'
import { audit } from './audit/calls.ts'
import { auth } from './auth/calls.ts'
import { balances } from './balances/calls.ts'
import { backups } from './backups/calls.ts'
import { botTokens } from './bot-tokens/calls.ts'
import { announcements } from './announcements/calls.ts'
import { downloads } from './downloads/calls.ts'
import { fromBefore } from './from-before/calls.ts'
import { game } from './game/calls.ts'
import { history } from './history/calls.ts'
import { ledger } from './ledger/calls.ts'
import { dashboard } from './dashboard/calls.ts'
import { dailyTasks, socialTasks } from './tasks/calls.ts'
import { players } from './players/calls.ts'
import { acts, trash } from './trash/calls.ts'
import { webhooks } from './webhooks/calls.ts'
import { users } from './users/calls.ts'
import { views } from './views/calls.ts'

export const contract = {
  auth,
  account,
  users,
  dashboard,
  socialTasks,
  dailyTasks,
  announcements,
  players,
  balances,
  history,
  downloads,
  views,
  audit,
  backups,
  trash,
  acts,
  botTokens,
  fromBefore,
  game,
  webhooks,
  ledger,
}

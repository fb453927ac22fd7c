/** Every call that the browser or the bot can make. */
import { account } from './account.ts'
import { audit } from './audit.ts'
import { auth } from './auth.ts'
import { balances } from './balances.ts'
import { backups } from './backups.ts'
import { botTokens } from './bot-tokens.ts'
import { announcements } from './announcements.ts'
import { downloads } from './download.ts'
import { game } from './game.ts'
import { history } from './history.ts'
import { ledger } from './ledger.ts'
import { dashboard } from './dashboard.ts'
import { dailyTasks, socialTasks } from './tasks.ts'
import { players } from './players.ts'
import { acts, trash } from './trash.ts'
import { webhooks } from './webhooks.ts'
import { users } from './users.ts'
import { views } from './views.ts'

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
  game,
  webhooks,
  ledger,
}

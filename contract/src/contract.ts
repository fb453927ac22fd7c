/** All calls of browsers, bots and players' clients. */
import { account } from '#src/account/calls.ts'
import { audit } from '#src/audit/calls.ts'
import { auth } from '#src/auth/calls.ts'
import { balances } from '#src/balances/calls.ts'
import { backups } from '#src/backups/calls.ts'
import { calendar } from '#src/calendar/calls.ts'
import { botTokens } from '#src/bot-tokens/calls.ts'
import { broadcasts } from '#src/broadcasts/calls.ts'
import { announcements } from '#src/announcements/calls.ts'
import { downloads } from '#src/downloads/calls.ts'
import { emails } from '#src/emails/calls.ts'
import { fromBefore } from '#src/from-before/calls.ts'
import { game } from '#src/game/calls.ts'
import { history } from '#src/history/calls.ts'
import { invitations } from '#src/invitations/calls.ts'
import { ledger } from '#src/ledger/calls.ts'
import { notes } from '#src/notes/calls.ts'
import { messages } from '#src/messages/calls.ts'
import { dashboard } from '#src/dashboard/calls.ts'
import { secondFactor } from '#src/second-factor/calls.ts'
import { team } from '#src/team/calls.ts'
import { oidc } from '#src/oidc/calls.ts'
import { passkeys } from '#src/passkeys/calls.ts'
import { dailyTasks, socialTasks } from '#src/tasks/calls.ts'
import { players } from '#src/players/calls.ts'
import { acts, trash } from '#src/trash/calls.ts'
import { webhooks } from '#src/webhooks/calls.ts'
import { users } from '#src/users/calls.ts'
import { views } from '#src/views/calls.ts'

export const contract = {
  auth,
  account,
  emails,
  secondFactor,
  oidc,
  passkeys,
  users,
  team,
  invitations,
  dashboard,
  socialTasks,
  dailyTasks,
  announcements,
  players,
  balances,
  calendar,
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
  broadcasts,
  ledger,
  messages,
  notes,
}

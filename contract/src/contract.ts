/** The whole surface: every call that the browser or the bot can make. */
import { accounts, users } from '#src/accounts.ts'
import { announcements } from '#src/announcements.ts'
import { downloads } from '#src/download.ts'
import { history } from '#src/history.ts'
import { metrics } from '#src/metrics.ts'
import { dailyTasks, socialTasks } from '#src/tasks.ts'
import { telegramUsers } from '#src/telegram-users.ts'

export const contract = { accounts, users, metrics, socialTasks, dailyTasks, announcements, telegramUsers, history, downloads }

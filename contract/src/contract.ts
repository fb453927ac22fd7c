/** The whole surface: every call that the browser or the bot can make. */
import { accounts, users } from '#src/accounts.ts'
import { downloads } from '#src/download.ts'
import { metrics } from '#src/metrics.ts'

export const contract = { accounts, users, metrics, downloads }

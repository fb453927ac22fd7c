/** Puts the server together: services, features, the HTTP layer. Used by main.ts, the tests and the benchmarks alike. */
import type { Hono } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Logger } from 'pino'
import { contract } from '@arcade/contract/contract'
import { type Attempts, createAttempts } from '#src/identity/attempts.ts'
import { createBotTokens } from '#src/identity/bot-tokens.ts'
import type { Backups } from '#src/backup/backups.ts'
import type { Config } from './config.ts'
import type { Handlers } from './calls.ts'
import type { Database } from '#src/db/database.ts'
import { createDownloads } from '#src/sheets/download.ts'
import type { Spool } from '#src/sheets/spool.ts'
import { accountHandlers } from '#src/features/account/account.ts'
import { servedAudit } from '#src/features/audit/audit-list.ts'
import { auditHandlers } from '#src/features/audit/audit.ts'
import { authHandlers } from '#src/features/auth/auth.ts'
import { emailsHandlers } from '#src/features/emails/emails.ts'
import { invitationsHandlers } from '#src/features/invitations/invitations.ts'
import { secondFactorHandlers } from '#src/features/second-factor/second-factor.ts'
import { servedUsers } from '#src/features/users/users-list.ts'
import { teamHandlers } from '#src/features/team/team.ts'
import { usersHandlers } from '#src/features/users/users.ts'
import { viewsHandlers } from '#src/features/views/views.ts'
import { webhooksHandlers } from '#src/features/webhooks/webhooks.ts'
import { servedAnnouncements } from '#src/features/announcements/announcements-list.ts'
import { announcementsHandlers } from '#src/features/announcements/announcements.ts'
import type { Images } from '#src/files/images.ts'
import { type Broadcasts, createBroadcasts, type TelegramSettings } from '#src/broadcasts/broadcasts.ts'
import { backupsHandlers } from '#src/features/backups/backups.ts'
import { broadcastsHandlers } from '#src/features/broadcasts/broadcasts.ts'
import { reportHandler } from '#src/features/broadcasts/report.ts'
import { botTokensHandlers } from '#src/features/bot-tokens/bot-tokens.ts'
import { calendarHandlers } from '#src/features/calendar/calendar.ts'
import { fromBeforeHandlers } from '#src/features/from-before.ts'
import { gameHandlers } from '#src/features/game/game.ts'
import { balancesHandlers } from '#src/features/balances.ts'
import { ledgerHandlers } from '#src/features/ledger.ts'
import { messagesHandlers } from '#src/features/messages.ts'
import { notesHandlers } from '#src/features/notes/notes.ts'
import { historyHandlers } from '#src/features/history/history.ts'
import { historyDownload } from '#src/features/history/history-download.ts'
import { createAlerts } from '#src/features/dashboard/alerts.ts'
import { createLive, type Live } from '#src/features/dashboard/live.ts'
import { dashboardHandlers } from '#src/features/dashboard/dashboard.ts'
import { createFigures } from '#src/features/dashboard/figures.ts'
import { createReadFollowed } from '#src/features/dashboard/followed.ts'
import { createToday } from '#src/features/dashboard/today.ts'
import { servedTasks } from '#src/features/tasks/tasks-list.ts'
import { tasksHandlers } from '#src/features/tasks/tasks.ts'
import { servedPlayers } from '#src/players/players-list.ts'
import { createVisits, notingVisits, type Visits } from '#src/players/visits.ts'
import { undoHandlers } from '#src/features/trash/undo.ts'
import { servedTrash } from '#src/features/trash/trash-list.ts'
import { trashHandlers } from '#src/features/trash/trash.ts'
import { exportSelection, listExports } from '#src/lists/exports.ts'
import { oidcHandlers } from '#src/features/oidc/oidc.ts'
import { passkeysHandlers } from '#src/features/passkeys/passkeys.ts'
import { playersHandlers } from '#src/features/players/players.ts'
import { createDevices } from '#src/identity/devices.ts'
import { createSignInGuard, type SignInGuard } from '#src/identity/sign-in-guard.ts'
import { createFiles, type Files } from '#src/files/files.ts'
import type { FileStore } from '#src/files/disk.ts'
import { createHttp } from '#src/http/http.ts'
import { createMetrics } from '#src/http/metrics.ts'
import { createReadiness, type Readiness } from '#src/http/readiness.ts'
import { bindRoutes } from '#src/http/routes.ts'
import type { WebApp } from '#src/http/static.ts'
import { createInitDataReader } from '#src/identity/init-data.ts'
import { createPasswordResets, type PasswordResets } from '#src/identity/password-resets.ts'
import { createSessions, type Sessions } from '#src/identity/sessions.ts'
import { createPasskeys, type Passkeys } from '#src/identity/passkeys.ts'
import { createPasswords, type Passwords } from '#src/identity/sign-in-passwords.ts'
import { createMails, type Mails } from '#src/mail/mails.ts'
import { createSignInService } from '#src/identity/sign-in-service.ts'
import { createTrash } from '#src/audit/trash.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'

export interface AppOptions {
  config: Pick<
    Config,
    | 'host'
    | 'publicOrigin'
    | 'registrationEmailHost'
    | 'passwordPolicy'
    | 'secondFactor'
    | 'rateLimit'
    | 'trustedProxies'
    | 'maxExports'
    | 'metricsToken'
    | 'trashDays'
    | 'entryCaps'
    | 'initData'
    | 'webhookNetworks'
    | 'mail'
    | 'oidc'
  > & { telegram: TelegramSettings }
  database: Database
  fileStore: FileStore
  images: Images
  spool: Spool
  log: Logger
  webApp?: WebApp
  secretKey: SecretKey
  backups: Backups
}

/** The parts that main.ts needs besides `http`, for background tasks and for the stop. */
export interface App {
  http: Hono<{ Bindings: Partial<HttpBindings> }>
  readiness: Readiness
  sessions: Sessions
  attempts: Attempts
  signInGuard: SignInGuard
  passwords: Passwords
  passwordResets: PasswordResets
  mails: Mails
  passkeys: Passkeys
  files: Files
  visits: Visits
  broadcasts: Broadcasts
  /** Event streams, which must be ended before the server can stop. */
  live: Live
}

export async function createApp(options: AppOptions): Promise<App> {
  const { config, database, log, webApp } = options
  const services = await createServices(options)
  const readiness = createReadiness({ database, files: services.files })
  const http = createHttp({
    ...services,
    routes: bindRoutes(contract, createHandlers(services, options)),
    readInitData: createInitDataReader(config.initData),
    metrics: createMetrics({ database, token: config.metricsToken, exportsRunning: () => services.downloads.writingCount() }),
    log,
    webApp,
    readiness,
    rateLimit: config.rateLimit,
    host: config.host,
    trustedProxies: config.trustedProxies,
  })
  return { ...services, http, readiness }
}

type Services = Awaited<ReturnType<typeof createServices>>

async function createServices({ config, database, fileStore, images, spool, log, secretKey }: AppOptions) {
  const { trashDays, registrationEmailHost, passwordPolicy, publicOrigin, telegram, oidc } = config
  const sessions = await createSessions(database, config.secondFactor)
  const attempts = createAttempts(database, config.rateLimit)
  const devices = await createDevices(database)
  const mails = createMails({ database, key: secretKey, settings: config.mail, log })
  const files = createFiles({ database, store: fileStore, log, trashDays })
  const figures = createFigures(database.reads)
  return {
    database,
    files,
    images,
    sessions,
    botTokens: await createBotTokens(database),
    attempts,
    devices,
    signInGuard: createSignInGuard({ database, attempts, devices, mails, log }),
    signInService: oidc && createSignInService(oidc),
    passwords: createPasswords({ database, secretKey, log }),
    passwordResets: createPasswordResets({ database, mails }),
    passkeys: createPasskeys(database),
    mails,
    downloads: await createDownloads({ database, sessions, log, spool, maxExports: config.maxExports }),
    broadcasts: createBroadcasts({ database, files, settings: telegram, log }),
    visits: createVisits(database),
    figures,
    live: createLive({ sessions, read: createReadFollowed(database, figures), log }),
    log,
    registrationEmailHost,
    passwordPolicy,
    publicOrigin,
    trash: createTrash(trashDays),
  }
}

/** Returns the handlers of all calls. */
function createHandlers(services: Services, { config, secretKey, backups }: AppOptions): Handlers<typeof contract> {
  const { database, attempts, broadcasts, downloads, figures, live, signInService: service, visits } = services
  const users = listExports(services, servedUsers)
  const players = listExports(services, servedPlayers)
  const selection = exportSelection({
    users: users.selection,
    telegramUsers: players.selection,
    socialTasks: listExports(services, servedTasks.social).selection,
    dailyTasks: listExports(services, servedTasks.daily).selection,
    announcements: listExports(services, servedAnnouncements).selection,
    audit: listExports(services, servedAudit).selection,
    trash: listExports(services, servedTrash).selection,
  })
  return {
    auth: authHandlers({ ...services, signInService: service?.name ?? null }),
    account: accountHandlers(services),
    secondFactor: secondFactorHandlers({ ...services, secretKey, policy: config.secondFactor }),
    oidc: oidcHandlers({ ...services, service }),
    passkeys: passkeysHandlers(services),
    users: usersHandlers(services),
    emails: emailsHandlers(services),
    team: teamHandlers(services),
    invitations: invitationsHandlers(services),
    dashboard: dashboardHandlers({
      figures,
      today: createToday(database),
      alerts: createAlerts({ database, backups }),
      live,
    }),
    socialTasks: tasksHandlers(services, 'social'),
    dailyTasks: tasksHandlers(services, 'daily'),
    announcements: announcementsHandlers(services),
    players: playersHandlers(services),
    balances: balancesHandlers(services),
    calendar: calendarHandlers(services),
    history: historyHandlers(services),
    downloads: {
      users: users.all,
      players: players.all,
      history: historyDownload(services),
      selection,
      progress: ({ exportId }, context) => downloads.progress(exportId, context),
    },
    views: viewsHandlers(services),
    backups: backupsHandlers({ backups, attempts }),
    audit: auditHandlers(services),
    trash: trashHandlers(services),
    acts: undoHandlers(services),
    botTokens: botTokensHandlers(services),
    fromBefore: fromBeforeHandlers(services),
    game: notingVisits(visits, gameHandlers(services), ['upsert', 'tasks', 'announcements', 'seen']),
    broadcasts: {
      ...broadcastsHandlers({ database, broadcasts, ratePerSecond: config.telegram.ratePerSecond }),
      ...reportHandler(services),
    },
    webhooks: webhooksHandlers({ database, secretKey, networks: config.webhookNetworks }),
    ledger: notingVisits(visits, ledgerHandlers({ ...services, caps: config.entryCaps }), ['claim', 'enter']),
    messages: messagesHandlers(services),
    notes: notesHandlers(services),
  }
}

/** Puts the server together: services, features, the HTTP layer. Used by main.ts, the tests and the benchmarks alike. */
import type { Hono } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Logger } from 'pino'
import { contract } from '@arcade/contract/contract'
import { type Attempts, createAttempts } from '#src/identity/attempts.ts'
import { createBotTokens } from '#src/identity/bot-tokens.ts'
import type { Config } from './config.ts'
import type { Database } from '#src/db/database.ts'
import { createDownloads } from '#src/sheets/download.ts'
import { authHandlers } from '#src/features/auth/auth.ts'
import { usersDownload, usersSelection } from '#src/features/users/users-list.ts'
import { usersHandlers } from '#src/features/users/users.ts'
import { announcementsSelection } from '#src/features/announcements/announcements-list.ts'
import { announcementsHandlers } from '#src/features/announcements/announcements.ts'
import { historyDownload, historyHandlers } from '#src/features/history/history.ts'
import { createLive, type Live } from '#src/features/dashboard/live.ts'
import { dashboardHandlers } from '#src/features/dashboard/dashboard.ts'
import { createFigures } from '#src/features/dashboard/figures.ts'
import { tasksSelection } from '#src/features/tasks/tasks-list.ts'
import { tasksHandlers } from '#src/features/tasks/tasks.ts'
import { playersDownload, playersSelection } from '#src/features/players/download.ts'
import { playersHandlers } from '#src/features/players/players.ts'
import { createFiles, type Files } from '#src/files/files.ts'
import type { FileStore } from '#src/files/disk.ts'
import { createHttp } from '#src/http/http.ts'
import { bindRoutes } from '#src/http/routes.ts'
import type { WebApp } from '#src/http/static.ts'
import { createSessions, type Sessions } from '#src/identity/sessions.ts'

export interface AppOptions {
  config: Pick<Config, 'publicOrigin' | 'registrationEmailHost' | 'rateLimit'>
  database: Database
  fileStore: FileStore
  log: Logger
  webApp?: WebApp
  isStopping?: () => boolean
}

export interface App {
  http: Hono<{ Bindings: Partial<HttpBindings> }>
  sessions: Sessions
  attempts: Attempts
  files: Files
  /** Streams that have to be ended for the server to stop. */
  live: Live
}

export async function createApp({
  config,
  database,
  fileStore,
  log,
  webApp,
  isStopping = () => false,
}: AppOptions): Promise<App> {
  const sessions = await createSessions(database)
  const attempts = createAttempts(database, config.rateLimit)
  const { registrationEmailHost, publicOrigin } = config
  const downloads = createDownloads({ database, log })
  const files = createFiles({ database, store: fileStore, log })
  const services = { database, files, sessions, attempts, downloads, log, registrationEmailHost }
  const figures = createFigures(database)
  const live = createLive({ sessions, figures, log })
  const selections = {
    users: usersSelection(services),
    telegramUsers: playersSelection(services),
    socialTasks: tasksSelection(services, 'social'),
    dailyTasks: tasksSelection(services, 'daily'),
    announcements: announcementsSelection(services),
  }
  const routes = bindRoutes(contract, {
    auth: authHandlers(services),
    users: usersHandlers(services),
    dashboard: dashboardHandlers({ figures, live }),
    socialTasks: tasksHandlers(services, 'social'),
    dailyTasks: tasksHandlers(services, 'daily'),
    announcements: announcementsHandlers(services),
    players: playersHandlers(services),
    history: historyHandlers(services),
    downloads: {
      users: usersDownload(services),
      players: playersDownload(services),
      history: historyDownload(services),
      selection: (input, context) => {
        switch (input.list) {
          case 'users':
            return selections.users(input, context)
          case 'telegramUsers':
            return selections.telegramUsers(input, context)
          case 'announcements':
            return selections.announcements(input, context)
          default:
            return selections[input.list](input, context)
        }
      },
      progress: async ({ exportId }, context) => downloads.progress(exportId, context),
    },
  })
  const botTokens = createBotTokens(database)
  const http = createHttp({ routes, database, sessions, botTokens, log, publicOrigin, webApp, isStopping })
  return { http, sessions, attempts, files, live }
}

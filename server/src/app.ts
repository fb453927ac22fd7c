/** Puts the server together: services, features, the HTTP layer. Used by main.ts, the tests and the benchmarks alike. */
import type { Hono } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Logger } from 'pino'
import { contract } from '@arcade/contract/contract'
import { type Attempts, createAttempts } from '#src/attempts.ts'
import { createBotTokens } from '#src/bot-tokens.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/db/database.ts'
import { signInHandlers } from '#src/features/accounts/sign-in.ts'
import { usersDownload, usersHandlers } from '#src/features/accounts/users.ts'
import { metricsHandlers } from '#src/features/metrics.ts'
import { createHttp } from '#src/http/http.ts'
import { bindRoutes } from '#src/http/routes.ts'
import type { WebApp } from '#src/http/static.ts'
import { createSessions, type Sessions } from '#src/sessions.ts'

export interface AppOptions {
  config: Pick<Config, 'publicOrigin' | 'registrationEmailHost' | 'rateLimit'>
  database: Database
  log: Logger
  webApp?: WebApp
  isStopping?: () => boolean
}

export interface App {
  http: Hono<{ Bindings: Partial<HttpBindings> }>
  sessions: Sessions
  attempts: Attempts
}

export async function createApp({ config, database, log, webApp, isStopping = () => false }: AppOptions): Promise<App> {
  const sessions = await createSessions(database)
  const attempts = createAttempts(database, config.rateLimit)
  const { registrationEmailHost, publicOrigin } = config
  const services = { database, sessions, attempts, log, registrationEmailHost }
  const routes = bindRoutes(contract, {
    accounts: signInHandlers(services),
    users: usersHandlers(services),
    metrics: metricsHandlers(services),
    downloads: { users: usersDownload(services) },
  })
  const botTokens = createBotTokens(database)
  const http = createHttp({ routes, database, sessions, botTokens, log, publicOrigin, webApp, isStopping })
  return { http, sessions, attempts }
}

/** Reads and checks the environment (design §8). No other module reads process.env. */
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { Cron } from 'croner'
import { z } from 'zod'
import { MAX_NUMBER } from '@arcade/contract/entity'
import { newPasswordField } from '@arcade/contract/field-schemas'
import { gameCauseField, OTHER_CAUSES, TAKEN } from '@arcade/contract/ledger/calls'
import { isExactNumber } from '@arcade/contract/numbers'
import { secondFactorPolicies, type SecondFactorPolicy } from '@arcade/contract/second-factor/fields'
import { issuerAddress, serviceName, type SignInServiceSettings, TELEGRAM_ISSUER } from './issuer.ts'

/** A malformed environment: `message` is the one line to print before exiting with 1. */
export class ConfigError extends Error {}

export interface Config {
  /** TCP port; 0 lets the system choose. */
  port: number
  host: string
  /** Absolute path of the folder that holds the embedded database and the file store. */
  dataDir: string
  /** The PostgreSQL (15 or later) to use instead of the embedded one. */
  databaseUrl: string | undefined
  /** A replica of that database, for reads that may be a second old. */
  databaseReplicaUrl: string | undefined
  /** Limits of the server's database connections that are set; times in milliseconds. */
  databaseLimits: { size?: number; statementTimeoutMs?: number; lockTimeoutMs?: number }
  /** How many spreadsheets may be written at once. */
  maxExports: number
  /** `s3://bucket?endpoint=…`, or undefined for DATA_DIR/files. */
  filesUrl: string | undefined
  /** The origin under which browsers reach the console, e.g. `https://console.example.org`. */
  publicOrigin: string | undefined
  /** The account to create at the start if there is no admin yet. */
  firstAdmin: { email: string; password: string } | undefined
  /** The mail host whose addresses may register (§5). */
  registrationEmailHost: string
  rateLimit: boolean
  /** Which new passwords are accepted: all that §5 accepts, or only those that are neither short nor common. */
  passwordPolicy: 'standard' | 'strict'
  /** Who must have a second factor. */
  secondFactor: SecondFactorPolicy
  /** Where backups are made, how many are kept, and when (cron, UTC) they are due; `times` is undefined if none are scheduled. */
  backups: { address: string; times: string | undefined; keep: number }
  /** Days for which a deleted record can be restored. */
  trashDays: number
  /** Addresses (`10.0.0.1`) and networks (`10.0.0.0/8`) of the proxies whose X-Forwarded-For is trusted. */
  trustedProxies: string[]
  /** The secret with which a client may read GET /metrics; undefined if nobody may. */
  metricsToken: string | undefined
  /** SECRET_KEY: encrypts stored secrets that the console must read again (webhooks/secret-key.ts). */
  secretKey: string | undefined
  /** Addresses and networks that webhooks may reach although they are not public. */
  webhookNetworks: string[]
  /** ENTRY_CAPS: the most points that each cause may pay a player in one UTC day or, as `-cause`, take from one. */
  entryCaps: ReadonlyMap<string, number>
  /** How broadcasts are sent through Telegram (broadcasts/). */
  telegram: {
    botToken: string | undefined
    /** Where the Bot API is, without a trailing slash. */
    apiRoot: string
    /** Messages of all servers together. */
    ratePerSecond: number
    /** The most messages that a player gets in seven days; undefined for no cap. */
    messagesAWeek: number | undefined
    /** Hours without messages, by the zone of the console; undefined for none. */
    quietHours: { from: number; to: number; zone: string } | undefined
    /** The address of the game's Mini App, for the button of a message. */
    miniAppUrl: string | undefined
  }
  /** How mails are sent (mail/); undefined if SMTP_URL is not set. */
  mail: MailSettings | undefined
  /** The service with which linked people sign in (identity/sign-in-service.ts); undefined if OIDC_CLIENT_ID is not set. */
  oidc: SignInServiceSettings | undefined
  /** How the initData of players' clients is checked (identity/init-data.ts). */
  initData: { botToken: string | undefined; botId: string | undefined; maxAgeSeconds: number }
}

export interface MailSettings {
  smtp: SmtpServer
  /** The address of the sender. */
  from: string
  /** The origin of the links in mails, without a trailing slash. */
  origin: string
}

/** SMTP_URL, parsed. */
export interface SmtpServer {
  host: string
  port: number
  /** Whether the connection begins with TLS (`smtps:`). */
  isSecure: boolean
  login: { user: string; password: string } | undefined
}

const port = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .refine((value) => value <= 65535)
const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most)
const url = (...protocols: string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol))
const origin = url('http:', 'https:').refine(
  (value) => URL.canParse(value) && new URL(value).pathname === '/' && !new URL(value).search,
)

const place = z
  .string()
  .refine((value) => !value.includes('\0') && (!value.includes('://') || url('s3:').safeParse(value).success))
const times = z.string().refine(isCronExpression)

/** Whether it is a cron expression of five fields that has a next time: one for 30 February has none. */
function isCronExpression(value: string): boolean {
  try {
    return value.trim().split(/\s+/).length === 5 && new Cron(value, { timezone: 'UTC' }).nextRun() !== null
  } catch {
    return false
  }
}

const addressRanges = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter(Boolean))
  .refine((ranges) => ranges.every(isAddressRange))

function isAddressRange(range: string): boolean {
  const [address = '', length, ...rest] = range.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return rest.length === 0 && bits > 0 && (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits))
}

const apiRoot = url('http:', 'https:')
  .refine((value) => URL.canParse(value) && !new URL(value).search && !new URL(value).hash)
  .transform((value) => value.replace(/\/+$/, ''))

const smtpUrl = url('smtp:', 'smtps:').transform((value, context): SmtpServer => {
  const { protocol, hostname, port: given, username, password, pathname, search, hash } = new URL(value)
  const isSecure = protocol === 'smtps:'
  const isWhole =
    hostname !== '' && (pathname === '' || pathname === '/') && !search && !hash && (username === '') === (password === '')
  try {
    const login = username === '' ? undefined : { user: decodeURIComponent(username), password: decodeURIComponent(password) }
    if (isWhole)
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(given || (isSecure ? 465 : 587)), isSecure, login }
  } catch {
    // The user or the password is not percent-encoded.
  }
  context.addIssue({ code: 'custom' })
  return z.NEVER
})

const hours = z
  .string()
  .regex(/^([01]?\d|2[0-3])-([01]?\d|2[0-3])$/)
  .transform((value) => value.split('-').map(Number) as [from: number, to: number])
  .refine(([from, to]) => from !== to)

/** A name of the time zone database, such as Europe/Berlin. */
const timeZone = z.string().refine((value) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
})

const capAmount = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .refine(isExactNumber)
  .transform(Number)
  .pipe(z.number().nonnegative().max(MAX_NUMBER))
const causes = z.union([z.literal(OTHER_CAUSES), gameCauseField])
/** A cause that gives, or `-` and a cause that takes. Claims only give. */
const cappedCause = z.union([
  z.literal('claim'),
  causes,
  z.string().refine((text) => text.startsWith(TAKEN) && causes.safeParse(text.slice(TAKEN.length)).success),
])
const caps = z
  .string()
  .transform((value) => value.split(',').map((part) => part.trim().split('=')))
  .pipe(z.array(z.tuple([cappedCause, capAmount])))
  .refine((pairs) => new Set(pairs.map(([cause]) => cause)).size === pairs.length)
  // A cap of 0 is allowed for all other causes (`*` and `-*`), to forbid unknown ones. A named cause must be able to change something.
  .refine((pairs) => pairs.every(([cause, most]) => most > 0 || cause === OTHER_CAUSES || cause === TAKEN + OTHER_CAUSES))
  .transform((pairs) => new Map(pairs))

const variables = {
  PORT: [port, 'a port number from 0 to 65535'],
  HOST: [z.string().regex(/^[\w.:-]+$/), 'a host name or an IP address'],
  DATA_DIR: [z.string().refine((value) => !value.includes('\0')), 'a path'],
  DATABASE_URL: [url('postgres:', 'postgresql:'), 'postgres://user:password@host:port/database'],
  DATABASE_REPLICA_URL: [url('postgres:', 'postgresql:'), 'postgres://user:password@host:port/database'],
  DATABASE_POOL_SIZE: [wholeNumber(2, 1000), 'a number of connections from 2 to 1000'],
  DATABASE_STATEMENT_TIMEOUT_MS: [wholeNumber(1000, 3_600_000), 'milliseconds from 1000 to 3600000'],
  DATABASE_LOCK_TIMEOUT_MS: [wholeNumber(10, 60_000), 'milliseconds from 10 to 60000'],
  MAX_EXPORTS: [wholeNumber(1, 100), 'a number of exports at once from 1 to 100'],
  FILES_URL: [url('s3:'), 's3://bucket?endpoint=https://…'],
  PUBLIC_URL: [origin, 'an address such as https://console.example.org, without a path'],
  ADMIN_EMAIL: [z.string().regex(z.regexes.email), 'an e-mail address'],
  ADMIN_PASSWORD: [newPasswordField, 'a password of 6 to 128 characters'],
  REGISTRATION_EMAIL_HOST: [z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i), 'a mail host such as gmail.com'],
  RATE_LIMIT: [z.enum(['on', 'off']), 'on or off'],
  PASSWORD_POLICY: [z.enum(['standard', 'strict']), 'standard or strict'],
  SECOND_FACTOR: [z.enum(secondFactorPolicies), 'optional or admins'],
  METRICS_TOKEN: [z.string().regex(/^\S{16,200}$/), 'a secret of 16 to 200 characters without spaces'],
  BACKUP_URL: [place, 'a folder or s3://bucket/prefix?endpoint=https://…'],
  BACKUP_SCHEDULE: [times, 'five fields of cron in UTC, such as 0 3 * * *'],
  BACKUP_KEEP: [wholeNumber(1, 1000), 'a number of backups from 1 to 1000'],
  TRASH_DAYS: [wholeNumber(1, 3650), 'a number of days from 1 to 3650'],
  TELEGRAM_BOT_TOKEN: [z.string().regex(/^\d{1,16}:[\w-]{1,100}$/), 'the token that Telegram gave the bot, such as 123456:ABC…'],
  TELEGRAM_BOT_ID: [z.string().regex(/^[1-9]\d{0,15}$/), 'the number of the bot, which its token begins with'],
  TELEGRAM_API_ROOT: [apiRoot, 'the address of a Bot API server, such as https://api.telegram.org'],
  TELEGRAM_RATE: [wholeNumber(1, 1000), 'messages a second from 1 to 1000'],
  MESSAGES_A_WEEK: [wholeNumber(1, 1000), 'a number of messages from 1 to 1000'],
  QUIET_HOURS: [hours, 'two different hours from 0 to 23, such as 22-8'],
  CONSOLE_ZONE: [timeZone, 'a time zone such as Europe/Berlin'],
  MINI_APP_URL: [url('http:', 'https:'), 'the address of the Mini App, such as https://game.example.org'],
  SMTP_URL: [
    smtpUrl,
    'smtp://host:587, smtps://host:465 or smtps://user:password@host, with user and password percent-encoded and nothing after the port',
  ],
  MAIL_FROM: [z.string().regex(z.regexes.email), 'an e-mail address, such as console@example.org'],
  OIDC_ISSUER: [issuerAddress, 'the https address of an OpenID Connect issuer, such as https://oauth.telegram.org'],
  OIDC_CLIENT_ID: [z.string().regex(/^[\u0021-\u007E]{1,255}$/), 'the id that the issuer gave this console, without spaces'],
  OIDC_CLIENT_SECRET: [
    z.string().regex(/^[\u0021-\u007E]{1,1000}$/),
    'the secret that the issuer gave this console, without spaces',
  ],
  OIDC_NAME: [z.string().regex(/^[^\p{C}]{1,40}$/u), 'a name of 1 to 40 characters, such as Telegram'],
  INIT_DATA_MAX_AGE: [wholeNumber(1, 31 * 86_400), 'seconds from 1 to 2678400'],
  ENTRY_CAPS: [
    caps,
    'claim or causes of the game with the most that each gives a player a day, or takes with - before it, and * for all others, such as claim=5000,play=1000,-play=500,*=0,-*=0; only * and -* may be 0',
  ],
  SECRET_KEY: [z.string().regex(/^\S{32,200}$/), 'a secret of 32 to 200 characters without spaces'],
  WEBHOOK_NETWORKS: [addressRanges, 'addresses or networks such as 10.0.0.0/8, fd00::/8, 192.0.2.1'],
  TRUSTED_PROXIES: [addressRanges, 'addresses or networks such as 10.0.0.0/8, fd00::/8, 192.0.2.1'],
} as const

type Name = keyof typeof variables

/** The environment variables that configure the product. @public scripts/demo.ts loads it without importing it. */
export const variableNames = Object.keys(variables) as Name[]

/** Variables whose values must not appear in any message. */
const SECRET: ReadonlySet<Name> = new Set([
  'ADMIN_PASSWORD',
  'DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'FILES_URL',
  'BACKUP_URL',
  'METRICS_TOKEN',
  'TELEGRAM_BOT_TOKEN',
  'SECRET_KEY',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
])

type Read = <N extends Name>(name: N) => z.output<(typeof variables)[N][0]> | undefined

/**
 * Reads the configuration. An empty variable counts as absent.
 * @throws ConfigError naming the variable, what it must be and, unless it is secret, what it is.
 */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const read: Read = (name) => readVariable(name, env[name])
  refuseContradictions(read)
  const email = read('ADMIN_EMAIL')
  const password = read('ADMIN_PASSWORD')
  const publicUrl = read('PUBLIC_URL')
  const backupAddress = read('BACKUP_URL')
  const dataDir = resolve(read('DATA_DIR') ?? './data')
  const size = read('DATABASE_POOL_SIZE')
  const statementTimeoutMs = read('DATABASE_STATEMENT_TIMEOUT_MS')
  const lockTimeoutMs = read('DATABASE_LOCK_TIMEOUT_MS')
  const quiet = read('QUIET_HOURS')
  const zone = read('CONSOLE_ZONE') ?? 'UTC'
  return {
    port: read('PORT') ?? 3000,
    host: read('HOST') ?? '127.0.0.1',
    dataDir,
    databaseUrl: read('DATABASE_URL'),
    databaseReplicaUrl: read('DATABASE_REPLICA_URL'),
    databaseLimits: {
      ...(size !== undefined && { size }),
      ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
      ...(lockTimeoutMs !== undefined && { lockTimeoutMs }),
    },
    maxExports: read('MAX_EXPORTS') ?? 4,
    filesUrl: read('FILES_URL'),
    publicOrigin: publicUrl === undefined ? undefined : new URL(publicUrl).origin,
    firstAdmin: email !== undefined && password !== undefined ? { email, password } : undefined,
    registrationEmailHost: read('REGISTRATION_EMAIL_HOST')?.toLowerCase() ?? 'gmail.com',
    rateLimit: read('RATE_LIMIT') !== 'off',
    passwordPolicy: read('PASSWORD_POLICY') ?? 'standard',
    secondFactor: read('SECOND_FACTOR') ?? 'optional',
    backups: {
      address: backupAddress?.startsWith('s3://') ? backupAddress : resolve(backupAddress ?? join(dataDir, 'backups')),
      times: backupAddress === undefined ? undefined : (read('BACKUP_SCHEDULE') ?? '0 3 * * *'),
      keep: read('BACKUP_KEEP') ?? 7,
    },
    trashDays: read('TRASH_DAYS') ?? 30,
    trustedProxies: read('TRUSTED_PROXIES') ?? [],
    metricsToken: read('METRICS_TOKEN'),
    secretKey: read('SECRET_KEY'),
    webhookNetworks: read('WEBHOOK_NETWORKS') ?? [],
    entryCaps: read('ENTRY_CAPS') ?? new Map(),
    telegram: {
      botToken: read('TELEGRAM_BOT_TOKEN'),
      apiRoot: read('TELEGRAM_API_ROOT') ?? 'https://api.telegram.org',
      ratePerSecond: read('TELEGRAM_RATE') ?? 25,
      messagesAWeek: read('MESSAGES_A_WEEK'),
      quietHours: quiet && { from: quiet[0], to: quiet[1], zone },
      miniAppUrl: read('MINI_APP_URL'),
    },
    mail: readMail(read),
    oidc: readOidc(read),
    initData: {
      botToken: read('TELEGRAM_BOT_TOKEN'),
      botId: read('TELEGRAM_BOT_ID'),
      maxAgeSeconds: read('INIT_DATA_MAX_AGE') ?? 3600,
    },
  }
}

/**
 * Returns how mails are sent. Their links begin with PUBLIC_URL, never with what a request says, or else with the address at which the
 * server listens.
 */
function readMail(read: Read): MailSettings | undefined {
  const smtp = read('SMTP_URL')
  if (smtp === undefined) return undefined
  const publicUrl = read('PUBLIC_URL')
  const host = read('HOST') ?? '127.0.0.1'
  const reachable = ['0.0.0.0', '::'].includes(host) ? 'localhost' : isIP(host) === 6 ? `[${host}]` : host
  const { origin: ownOrigin, hostname } = new URL(publicUrl ?? `http://${reachable}:${read('PORT') ?? 3000}`)
  const domain = isIP(hostname) === 0 && hostname.includes('.') ? hostname : 'arcade-console.invalid'
  const login = smtp.login && z.regexes.email.test(smtp.login.user) ? smtp.login.user : undefined
  return { smtp, origin: ownOrigin, from: read('MAIL_FROM') ?? login ?? `arcade-console@${domain}` }
}

/** Returns the sign-in service: Telegram, or the one with the issuer that is set. */
function readOidc(read: Read): SignInServiceSettings | undefined {
  const clientId = read('OIDC_CLIENT_ID')
  if (clientId === undefined) return undefined
  const address = read('OIDC_ISSUER') ?? TELEGRAM_ISSUER
  return { issuer: address, clientId, clientSecret: read('OIDC_CLIENT_SECRET'), name: read('OIDC_NAME') ?? serviceName(address) }
}

function readVariable<N extends Name>(name: N, raw: string | undefined): z.output<(typeof variables)[N][0]> | undefined {
  if (raw === undefined || raw === '') return undefined
  const [schema, expected] = variables[name]
  const result = schema.safeParse(raw)
  if (result.success) return result.data as z.output<(typeof variables)[N][0]>
  const shown = SECRET.has(name) ? '' : `, not ${JSON.stringify(raw)}`
  throw new ConfigError(`${name} must be ${expected}${shown}`)
}

/** Checks variables that depend on each other. @throws ConfigError */
function refuseContradictions(read: Read): void {
  if ((read('ADMIN_EMAIL') === undefined) !== (read('ADMIN_PASSWORD') === undefined))
    throw new ConfigError('ADMIN_EMAIL and ADMIN_PASSWORD must be set together')
  if (read('BACKUP_SCHEDULE') !== undefined && read('BACKUP_URL') === undefined)
    throw new ConfigError('BACKUP_SCHEDULE needs BACKUP_URL')
  if (read('DATABASE_REPLICA_URL') !== undefined && read('DATABASE_URL') === undefined)
    throw new ConfigError('DATABASE_REPLICA_URL needs DATABASE_URL')
  if (read('MAIL_FROM') !== undefined && read('SMTP_URL') === undefined) throw new ConfigError('MAIL_FROM needs SMTP_URL')
  for (const name of ['OIDC_ISSUER', 'OIDC_CLIENT_SECRET', 'OIDC_NAME'] as const) {
    if (read(name) !== undefined && read('OIDC_CLIENT_ID') === undefined) throw new ConfigError(`${name} needs OIDC_CLIENT_ID`)
  }
  const botToken = read('TELEGRAM_BOT_TOKEN')
  const botId = read('TELEGRAM_BOT_ID')
  if (botToken !== undefined && botId !== undefined && !botToken.startsWith(`${botId}:`))
    throw new ConfigError(
      `TELEGRAM_BOT_TOKEN is of another bot than TELEGRAM_BOT_ID (${botId}): a token begins with its bot’s number`,
    )
}

/** Returns the folder in which the operator typed the command: npm changes to the project's folder before it runs a script. */
export function callerDirectory(): string {
  return process.env['INIT_CWD'] ?? process.cwd()
}

/** Whether the operator typed --dry-run without a `--` before it: npm then takes it for its own option and does not pass it on. */
export function npmTookDryRun(): boolean {
  return process.env['npm_config_dry_run'] === 'true'
}

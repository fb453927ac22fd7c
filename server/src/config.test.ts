/** The environment (design §8): defaults, and one clear line for each invalid value. */
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

describe('design §8 the environment', () => {
  test('has the documented defaults', () => {
    const config = readConfig({})
    expect(config).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      registrationEmailHost: 'gmail.com',
      rateLimit: true,
      maxExports: 4,
      trashDays: 30,
      initData: { botToken: undefined, botId: undefined, maxAgeSeconds: 3600 },
    })
    expect(config.dataDir.endsWith('/data')).toBe(true)
    expect(config.firstAdmin).toBeUndefined()
  })

  test('an empty variable counts as absent', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: undefined })
  })

  test.each([
    ['PORT', 'eighty'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3000.5'],
    ['HOST', 'a b'],
    ['DATABASE_URL', 'mysql://x'],
    ['DATABASE_URL', 'nonsense'],
    ['DATABASE_REPLICA_URL', 'http://x'],
    ['DATABASE_POOL_SIZE', '1'],
    ['DATABASE_STATEMENT_TIMEOUT_MS', '30s'],
    ['DATABASE_LOCK_TIMEOUT_MS', '0'],
    ['MAX_EXPORTS', '0'],
    ['MAX_EXPORTS', 'four'],
    ['FILES_URL', 'ftp://x'],
    ['PUBLIC_URL', 'console.example.org'],
    ['PUBLIC_URL', 'https://console.example.org/path'],
    ['ADMIN_EMAIL', 'nobody'],
    ['ADMIN_PASSWORD', '12345'],
    ['REGISTRATION_EMAIL_HOST', '@gmail.com'],
    ['RATE_LIMIT', 'true'],
    ['PASSWORD_POLICY', 'lax'],
    ['SECOND_FACTOR', 'everybody'],
    ['BACKUP_URL', 'ftp://x'],
    ['BACKUP_SCHEDULE', 'daily'],
    ['BACKUP_SCHEDULE', '99 * * * *'],
    ['BACKUP_SCHEDULE', '* * * * * *'],
    ['BACKUP_SCHEDULE', '0 0 30 2 *'],
    ['BACKUP_KEEP', '0'],
    ['TRASH_DAYS', '0'],
    ['TELEGRAM_BOT_TOKEN', 'nonsense'],
    ['ENTRY_CAPS', 'play'],
    ['ENTRY_CAPS', 'play='],
    ['ENTRY_CAPS', 'play=0'],
    ['ENTRY_CAPS', '-play=0'],
    ['ENTRY_CAPS', 'play=-1'],
    ['ENTRY_CAPS', '*=-1'],
    ['ENTRY_CAPS', '*=1,*=2'],
    ['ENTRY_CAPS', 'play=much'],
    ['ENTRY_CAPS', 'play=1=2'],
    ['ENTRY_CAPS', 'play=1,play=2'],
    ['ENTRY_CAPS', 'play=9007199254740993'],
    ['ENTRY_CAPS', 'Play=1'],
    ['ENTRY_CAPS', 'opening=1'],
    ['ENTRY_CAPS', 'adjustment=1'],
    ['ENTRY_CAPS', '-claim=1'],
    ['ENTRY_CAPS', '--play=1'],
    ['ENTRY_CAPS', '-play=1,-play=2'],
    ['ENTRY_CAPS', '-adjustment=1'],
    ['SECRET_KEY', 'short'],
    ['WEBHOOK_NETWORKS', 'intranet'],
    ['TELEGRAM_BOT_ID', '0'],
    ['TELEGRAM_BOT_ID', 'bot'],
    ['TELEGRAM_API_ROOT', 'api.telegram.org'],
    ['TELEGRAM_API_ROOT', 'https://api.telegram.org/?a=1'],
    ['TELEGRAM_RATE', '0'],
    ['TELEGRAM_RATE', '25/s'],
    ['MESSAGES_A_WEEK', '0'],
    ['QUIET_HOURS', '22:00-8:00'],
    ['QUIET_HOURS', '22-24'],
    ['QUIET_HOURS', '8-8'],
    ['CONSOLE_ZONE', 'Berlin time'],
    ['MINI_APP_URL', 'game.example.org'],
    ['SMTP_URL', 'mail.example.org'],
    ['SMTP_URL', 'http://mail.example.org'],
    ['SMTP_URL', 'smtp://'],
    ['SMTP_URL', 'smtp://user@mail.example.org'],
    ['SMTP_URL', 'smtp://us%ZZer:pa@mail.example.org'],
    ['SMTP_URL', 'smtp://mail.example.org/?tls.rejectUnauthorized=false'],
    ['SMTP_URL', 'smtp://mail.example.org:99999'],
    ['MAIL_FROM', 'Arcade <console@example.org>'],
    ['MAIL_FROM', 'a@b.org\r\nBcc: c@d.org'],
    ['OIDC_ISSUER', 'oauth.telegram.org'],
    ['OIDC_ISSUER', 'http://login.example.org'],
    ['OIDC_ISSUER', 'http://127.evil.example'],
    ['OIDC_ISSUER', 'javascript://localhost/'],
    ['OIDC_ISSUER', 'https://login.example.org/?tenant=a'],
    ['OIDC_ISSUER', 'https://user:pass@login.example.org'],
    ['OIDC_CLIENT_ID', 'two words'],
    ['OIDC_NAME', 'x'.repeat(41)],
    ['INIT_DATA_MAX_AGE', '0'],
    ['INIT_DATA_MAX_AGE', '1h'],
    ['INIT_DATA_MAX_AGE', '-5'],
    ['TRASH_DAYS', '30d'],
    ['TRUSTED_PROXIES', 'proxy'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUSTED_PROXIES', '10.0.0.1, fd00::/129'],
  ])('%s=%s is refused with one clear line that names it', (name, value) => {
    const read = () => readConfig({ [name]: value })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(new RegExp(`^${name} must be [^\n]+$`))
  })

  test('each limit of database connections can be set by itself', () => {
    expect(readConfig({}).databaseLimits).toEqual({})
    expect(readConfig({ DATABASE_POOL_SIZE: '40', DATABASE_LOCK_TIMEOUT_MS: '500' }).databaseLimits).toEqual({
      size: 40,
      lockTimeoutMs: 500,
    })
  })

  test('ENTRY_CAPS has caps on what causes give and on what they take', () => {
    const caps = { claim: 5000, play: 1000, '-play': 500, '*': 0 }
    const text = 'claim=5000, play=1000,-play=500,*=0'
    for (const others of [0, 2000.5])
      expect(readConfig({ ENTRY_CAPS: `${text},-*=${others}` }).entryCaps).toEqual(
        new Map(Object.entries({ ...caps, '-*': others })),
      )
  })

  test('SMTP_URL names the mail server; the sender and the origin of links follow from PUBLIC_URL', () => {
    expect(readConfig({}).mail).toBeUndefined()
    expect(readConfig({ SMTP_URL: 'smtp://127.0.0.1:2525' }).mail).toEqual({
      smtp: { host: '127.0.0.1', port: 2525, isSecure: false, login: undefined },
      from: 'arcade-console@arcade-console.invalid',
      origin: 'http://127.0.0.1:3000',
    })
    const set = { SMTP_URL: 'smtps://me%40x.org:p%40ss@[::1]', PUBLIC_URL: 'https://console.example.org' }
    expect(readConfig(set).mail).toEqual({
      smtp: { host: '::1', port: 465, isSecure: true, login: { user: 'me@x.org', password: 'p@ss' } },
      from: 'me@x.org',
      origin: 'https://console.example.org',
    })
    expect(readConfig({ ...set, MAIL_FROM: 'a@b.org' }).mail?.from).toBe('a@b.org')
    expect(readConfig({ ...set, SMTP_URL: 'smtp://h' }).mail).toMatchObject({ from: 'arcade-console@console.example.org' })
    expect(() => readConfig({ MAIL_FROM: 'a@b.org' })).toThrow('MAIL_FROM needs SMTP_URL')
    expect(() => readConfig({ SMTP_URL: 'smtp://user:hidden@h/path' })).toThrow(/^SMTP_URL must be (?!.*hidden)/)
  })

  test('OIDC_CLIENT_ID is Telegram’s unless OIDC_ISSUER names another issuer, and the others need it', () => {
    expect(readConfig({}).oidc).toBeUndefined()
    const telegram = { issuer: 'https://oauth.telegram.org/', clientId: '123', clientSecret: undefined, name: 'Telegram' }
    expect(readConfig({ OIDC_CLIENT_ID: '123' }).oidc).toEqual(telegram)
    const other = { OIDC_CLIENT_ID: 'console', OIDC_CLIENT_SECRET: 's', OIDC_ISSUER: 'https://login.example.org/realms/team' }
    expect(readConfig(other).oidc).toEqual({
      issuer: 'https://login.example.org/realms/team',
      clientId: 'console',
      clientSecret: 's',
      name: 'login.example.org',
    })
    expect(readConfig({ ...other, OIDC_NAME: 'Keycloak' }).oidc?.name).toBe('Keycloak')
    expect(readConfig({ ...other, OIDC_ISSUER: 'http://localhost:8080' }).oidc?.issuer).toBe('http://localhost:8080/')
    const { OIDC_CLIENT_ID: _, ...rest } = other
    for (const [name, value] of Object.entries({ ...rest, OIDC_NAME: 'Keycloak' }))
      expect(() => readConfig({ [name]: value })).toThrow(`${name} needs OIDC_CLIENT_ID`)
    expect(() => readConfig({ ...other, OIDC_CLIENT_SECRET: 'hid den' })).toThrow(/^OIDC_CLIENT_SECRET must be (?!.*hid den)/)
  })

  test('a replica needs DATABASE_URL', () => {
    const urls = { DATABASE_URL: 'postgres://h/d', DATABASE_REPLICA_URL: 'postgres://r/d' }
    expect(readConfig(urls)).toMatchObject({ databaseUrl: 'postgres://h/d', databaseReplicaUrl: 'postgres://r/d' })
    expect(() => readConfig({ DATABASE_REPLICA_URL: 'postgres://u:hidden@r/d' })).toThrow(
      'DATABASE_REPLICA_URL needs DATABASE_URL',
    )
  })

  test('with BACKUP_URL, a backup is made each night and seven are kept, unless set otherwise', () => {
    const own = { address: resolve('data/backups'), times: undefined, keep: 7 }
    expect(readConfig({}).backups).toEqual(own)
    expect(readConfig({ BACKUP_URL: '/backups' }).backups).toEqual({ address: '/backups', times: '0 3 * * *', keep: 7 })
    const set = { BACKUP_URL: 's3://bucket/prefix?endpoint=http://x', BACKUP_SCHEDULE: '*/30 * * * *', BACKUP_KEEP: '3' }
    expect(readConfig(set).backups).toEqual({ address: set.BACKUP_URL, times: '*/30 * * * *', keep: 3 })
    expect(readConfig({ BACKUP_KEEP: '3' }).backups).toMatchObject({ times: undefined, keep: 3 })
    expect(() => readConfig({ BACKUP_SCHEDULE: '0 0 * * *' })).toThrow('BACKUP_SCHEDULE needs BACKUP_URL')
  })

  test('TRUSTED_PROXIES is a list', () => {
    expect(readConfig({}).trustedProxies).toEqual([])
    const trustedProxies = ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']
    expect(readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8 192.0.2.1' })).toMatchObject({ trustedProxies })
  })

  test('broadcasts are sent as the variables say, and at once, to Telegram itself, without them', () => {
    const usual = { apiRoot: 'https://api.telegram.org', ratePerSecond: 25, quietHours: undefined }
    expect(readConfig({}).telegram).toMatchObject(usual)
    const set = {
      TELEGRAM_API_ROOT: 'http://127.0.0.1:8081/api/',
      TELEGRAM_RATE: '5',
      MESSAGES_A_WEEK: '3',
      QUIET_HOURS: '22-08',
      CONSOLE_ZONE: 'Europe/Berlin',
      MINI_APP_URL: 'https://game.example.org',
    }
    expect(readConfig(set).telegram).toEqual({
      botToken: undefined,
      apiRoot: 'http://127.0.0.1:8081/api',
      ratePerSecond: 5,
      messagesAWeek: 3,
      quietHours: { from: 22, to: 8, zone: 'Europe/Berlin' },
      miniAppUrl: 'https://game.example.org',
    })
    expect(readConfig({ QUIET_HOURS: '22-8' }).telegram.quietHours?.zone).toBe('UTC')
  })

  test('initData of players is checked by the variables that are set', () => {
    const env = { TELEGRAM_BOT_TOKEN: '123:abc_DEF-1', TELEGRAM_BOT_ID: '123', INIT_DATA_MAX_AGE: '60' }
    expect(readConfig(env).initData).toEqual({ botToken: '123:abc_DEF-1', botId: '123', maxAgeSeconds: 60 })
  })

  test('a token and an id of different bots are refused with one clear line without the token', () => {
    const read = () => readConfig({ TELEGRAM_BOT_TOKEN: '1234:hidden', TELEGRAM_BOT_ID: '123' })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/^TELEGRAM_BOT_TOKEN is of another bot than TELEGRAM_BOT_ID \(123\)(?!.*hidden)[^\n]+$/)
  })

  test('errors do not repeat secrets', () => {
    for (const name of ['TELEGRAM_BOT_TOKEN', 'SECRET_KEY']) expect(() => readConfig({ [name]: 'hidden' })).not.toThrow(/hidden/)
    expect(() => readConfig({ ADMIN_PASSWORD: 'abc' })).not.toThrow(/abc/)
    expect(() => readConfig({ DATABASE_URL: 'mysql://u:hidden@h' })).not.toThrow(/hidden/)
  })

  test('ADMIN_EMAIL without ADMIN_PASSWORD is refused', () => {
    expect(() => readConfig({ ADMIN_EMAIL: 'a@b.co' })).toThrow('ADMIN_EMAIL and ADMIN_PASSWORD must be set together')
  })
})

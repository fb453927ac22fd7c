/** The bot's configuration from environment variables; the README lists them. */

export interface Config {
  /** From @BotFather; the stand-in accepts any token. */
  botToken: string
  /** The URL of the Bot API: Telegram's or the stand-in's. */
  telegramUrl: string
  /** After this long without an answer of Telegram a call counts as failed. At least 3. */
  telegramTimeoutSeconds: number
  consoleUrl: string
  /** Printed by `npm run arcade -- token create NAME`. */
  consoleToken: string
  port: number
  /**
   * The https URL at which players and Telegram reach this process. Without it, the URL that it listens on, which is enough for the
   * stand-in.
   */
  publicUrl: string | undefined
  /** Whether Telegram sends updates to `publicUrl`; otherwise the bot uses long polling. */
  isWebhook: boolean
}

/** @throws Error that names the missing variable */
export function readConfig(env = process.env): Config {
  const needed = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`${name} is not set; examples/game/README.md says what it is.`)
    return value
  }
  return {
    botToken: needed('TELEGRAM_BOT_TOKEN'),
    telegramUrl: env['TELEGRAM_API_URL'] || 'https://api.telegram.org',
    telegramTimeoutSeconds: Math.max(3, Number(env['TELEGRAM_TIMEOUT_SECONDS'] || 12)),
    consoleUrl: needed('CONSOLE_URL'),
    consoleToken: needed('CONSOLE_TOKEN'),
    port: Number(env['PORT'] || 3002),
    publicUrl: env['PUBLIC_URL'] || undefined,
    isWebhook: env['WEBHOOK'] === 'on',
  }
}

/** What the bot's process is told by its environment; the README lists it. */

export interface Config {
  /** From @BotFather; the stand-in takes any. */
  botToken: string
  /** Where the Bot API is: Telegram's, or the stand-in's. */
  telegramUrl: string
  consoleUrl: string
  /** `npm run arcade -- token create NAME` prints one. */
  consoleToken: string
  port: number
  /** How players and Telegram reach this process: https only. Without it, by the address at which it listens, which the stand-in is content with. */
  publicUrl: string | undefined
  /** Whether Telegram sends updates to `publicUrl`; else they are fetched by long polling. */
  isWebhook: boolean
}

/** @throws Error with the name of the variable that is missing */
export function readConfig(env = process.env): Config {
  const needed = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`${name} is not set; examples/game/README.md says what it is.`)
    return value
  }
  return {
    botToken: needed('TELEGRAM_BOT_TOKEN'),
    telegramUrl: env['TELEGRAM_API_URL'] || 'https://api.telegram.org',
    consoleUrl: needed('CONSOLE_URL'),
    consoleToken: needed('CONSOLE_TOKEN'),
    port: Number(env['PORT'] || 3002),
    publicUrl: env['PUBLIC_URL'] || undefined,
    isWebhook: env['WEBHOOK'] === 'on',
  }
}

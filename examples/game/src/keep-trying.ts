/** Connects the bot to Telegram: retries, logs a line for each failure, and gives up only on errors that retrying cannot fix. */
import { GrammyError } from 'grammy'

const PAUSE_SECONDS = 1
const MAX_PAUSE_SECONDS = 60
/** Error codes that retrying cannot fix: a wrong token (401; 404 if it is not a token at all), or a URL that Telegram refuses (400). */
const FINAL = [400, 401, 404]

/**
 * Runs `act` until it succeeds. The pause between attempts doubles, unless Telegram sends `retry_after`.
 * @returns true on success; false after an error that retrying cannot fix, which was logged
 */
export async function keepTrying(act: () => Promise<unknown>): Promise<boolean> {
  for (let pause = PAUSE_SECONDS; ; pause = Math.min(pause * 2, MAX_PAUSE_SECONDS)) {
    try {
      await act()
      return true
    } catch (error) {
      const refusal = error instanceof GrammyError ? error : undefined
      const reason = error instanceof Error ? error.message : String(error)
      if (FINAL.includes(refusal?.error_code ?? 0)) {
        console.error(`The bot cannot start: ${reason}`)
        return false
      }
      const seconds = refusal?.parameters.retry_after ?? pause
      console.error(`The bot is not connected to Telegram and tries again in ${seconds} s: ${reason}`)
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    }
  }
}

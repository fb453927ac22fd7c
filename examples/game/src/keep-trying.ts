/** How the bot comes up while Telegram does not: it tries again, says so in a line each time, and ends only where trying cannot help. */
import { GrammyError } from 'grammy'

const PAUSE_SECONDS = 1
const PAUSE_MAX_SECONDS = 60
/** A wrong token (401, or 404 for what is no token at all), or an address to which Telegram sends nothing (400). */
const FINAL = [400, 401, 404]

/**
 * The pause between two attempts doubles, unless Telegram says how long it shall be.
 * @returns whether `act` has come to its end; false where Telegram refuses it for good, which was said, too
 */
export async function keepTrying(act: () => Promise<unknown>): Promise<boolean> {
  for (let pause = PAUSE_SECONDS; ; pause = Math.min(pause * 2, PAUSE_MAX_SECONDS)) {
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

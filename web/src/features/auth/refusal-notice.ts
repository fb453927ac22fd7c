/** The text below a signed-out form for refusals that a visitor can do something about; the toast of §8 does not say what. */
import type { Refusal } from '#src/ui/form.tsx'

export function refusalNotice({ code, message, retryAfterSeconds }: Refusal = {}): string | undefined {
  switch (code) {
    case 'TOO_MANY_ATTEMPTS':
      return retryAfterSeconds === undefined ? message : `Too many attempts. Please try again in ${inWords(retryAfterSeconds)}.`
    case 'NO_SUCH_DOCUMENT':
    case 'UNAVAILABLE':
    case 'NETWORK':
    case 'OFFLINE':
      return message
    default:
      return undefined
  }
}

function inWords(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`
}

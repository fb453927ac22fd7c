/**
 * Starts and scores rounds on the bot's server. The server stores none, because round ids are signed: a restart loses nothing, and a round
 * that is sent again after a lost answer is scored again.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { ROUND_MAX_MS, scoreOf, TAP_MIN_MS, TAPS } from './round.ts'

/** Tolerance for clock differences and network delay, in milliseconds. */
const SLACK_MS = 500

export interface Rounds {
  begin(userId: number): { id: string; seed: number }
  /** @returns the score, or undefined if the round belongs to another player or cannot have been played this way */
  judge(userId: number, id: string, taps: readonly number[]): number | undefined
}

/** @param secret a secret that players do not know */
export function createRounds(secret: string): Rounds {
  const sign = (userId: number, begun: string): Buffer =>
    createHmac('sha256', secret).update(`round\n${userId}\n${begun}`).digest()

  return {
    begin(userId) {
      const begun = `${Date.now()}-${randomBytes(6).toString('hex')}`
      const signature = sign(userId, begun)
      return { id: `${begun}-${signature.toString('hex', 0, 16)}`, seed: signature.readUInt32BE(16) }
    },

    judge(userId, id, taps) {
      const [at = '', nonce = '', received = ''] = id.split('-')
      const signature = sign(userId, `${at}-${nonce}`)
      const expected = Buffer.from(signature.toString('hex', 0, 16))
      if (received.length !== expected.length || !timingSafeEqual(Buffer.from(received), expected)) return undefined

      // The seed determines the marks, so a program could play perfectly. But it cannot finish earlier than the taps say.
      const playedMs = taps.reduce((sum, ms) => sum + ms, 0)
      const isPlayable = taps.length === TAPS && taps.every((ms) => ms >= TAP_MIN_MS) && playedMs <= ROUND_MAX_MS
      if (!isPlayable || playedMs > Date.now() - Number(at) + SLACK_MS) return undefined
      return scoreOf(signature.readUInt32BE(16), taps)
    },
  }
}

/**
 * Rounds as the bot's server gives them out and judges them. It remembers none, because an id is signed: a restart loses nothing, and a round
 * that is sent again after a lost answer is judged again.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { ROUND_MAX_MS, scoreOf, TAP_MIN_MS, TAPS } from './round.ts'

/** Between the player's clock and ours, and on the way. */
const SLACK_MS = 500

export interface Rounds {
  begin(userId: number): { id: string; seed: number }
  /** @returns the score, or undefined for a round that is not this player's, or cannot have been played like this */
  judge(userId: number, id: string, taps: readonly number[]): number | undefined
}

/** @param secret which no player knows */
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
      const [at = '', nonce = '', given = ''] = id.split('-')
      const signature = sign(userId, `${at}-${nonce}`)
      const own = Buffer.from(signature.toString('hex', 0, 16))
      if (given.length !== own.length || !timingSafeEqual(Buffer.from(given), own)) return undefined

      // The marks follow from the seed, so a program could play perfectly. It cannot play faster than the clock.
      const playedMs = taps.reduce((sum, ms) => sum + ms, 0)
      const isPlayable = taps.length === TAPS && taps.every((ms) => ms >= TAP_MIN_MS) && playedMs <= ROUND_MAX_MS
      if (!isPlayable || playedMs > Date.now() - Number(at) + SLACK_MS) return undefined
      return scoreOf(signature.readUInt32BE(16), taps)
    },
  }
}

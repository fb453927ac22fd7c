/**
 * Starts and scores rounds on the bot's server, so that nobody plays faster than the clock: a player has one open round, plays it once, and
 * a round ends by time. Round ids are signed, so that a restart does not lose the open ones.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { MAX_ROUND_MS, scoreOf, MIN_TAP_MS, TAPS } from './round.ts'

/** Tolerance for clock differences and network delay, in milliseconds. */
const SLACK_MS = 500
/** Milliseconds after the longest play within which a round must arrive: the Mini App sends it again while the connection is lost. */
const ARRIVAL_MS = 60_000

export interface Rounds {
  /** Opens a round. It replaces the player's open one. */
  begin(userId: number): { id: string; seed: number }
  /**
   * Scores a round. The same taps get the same score again, because the answer may have been lost.
   * @returns the score, or undefined if this is not the player's open round or cannot have been played this way
   */
  judge(userId: number, id: string, taps: readonly number[]): number | undefined
}

/** A player's latest round. */
interface Latest {
  id: string
  begunAt: number
  played?: { taps: string; score: number }
}

/** @param secret a secret that players do not know */
export function createRounds(secret: string): Rounds {
  const startedAt = Date.now()
  /** The latest round of each player, the oldest first. */
  const latest = new Map<number, Latest>()

  function sign(userId: number, begun: string): Buffer {
    return createHmac('sha256', secret).update(`round\n${userId}\n${begun}`).digest()
  }

  function keep(userId: number, round: Latest): Latest {
    latest.delete(userId)
    latest.set(userId, round)
    for (const [player, { begunAt }] of latest) {
      if (!isOver(begunAt)) break
      latest.delete(player)
    }
    return round
  }

  /** Returns the player's latest round if it is this one. Of the rounds from before a restart, the first that arrives is taken for the latest. */
  function findLatest(userId: number, id: string, begunAt: number): Latest | undefined {
    const known = latest.get(userId)
    if (known) return known.id === id ? known : undefined
    return begunAt < startedAt ? keep(userId, { id, begunAt }) : undefined
  }

  return {
    begin(userId) {
      const begunAt = Date.now()
      const begun = `${begunAt}-${randomBytes(6).toString('hex')}`
      const signature = sign(userId, begun)
      const id = `${begun}-${signature.toString('hex', 0, 16)}`
      keep(userId, { id, begunAt })
      return { id, seed: signature.readUInt32BE(16) }
    },

    judge(userId, id, taps) {
      const [at = '', nonce = '', received = ''] = id.split('-')
      const signature = sign(userId, `${at}-${nonce}`)
      const expected = Buffer.from(signature.toString('hex', 0, 16))
      if (received.length !== expected.length || !timingSafeEqual(Buffer.from(received), expected)) return undefined

      const begunAt = Number(at)
      // The seed determines the marks, so a program could play perfectly. But it cannot finish earlier than the taps say.
      const playedMs = taps.reduce((sum, ms) => sum + ms, 0)
      const isPlayable = taps.length === TAPS && taps.every((ms) => ms >= MIN_TAP_MS) && playedMs <= MAX_ROUND_MS
      if (!isPlayable || playedMs > Date.now() - begunAt + SLACK_MS || isOver(begunAt)) return undefined
      const round = findLatest(userId, id, begunAt)
      if (!round) return undefined
      const sent = taps.join()
      round.played ??= { taps: sent, score: scoreOf(signature.readUInt32BE(16), taps) }
      return round.played.taps === sent ? round.played.score : undefined
    },
  }
}

function isOver(begunAt: number): boolean {
  return Date.now() > begunAt + MAX_ROUND_MS + ARRIVAL_MS
}

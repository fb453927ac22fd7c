/** Identifies the caller by session cookie, bot token or a player's initData, and checks the call's access (§6, design §8). */
import { type Access, admitsBot, type CallMeta } from '@arcade/contract/call'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import type { InTurn } from '#src/identity/credential-cache.ts'
import type { BotTokens } from '#src/identity/bot-tokens.ts'
import type { InitDataReader } from '#src/identity/init-data.ts'
import { type Caller, Failure, refuseWithoutPermission } from '#src/calls.ts'
import type { Sessions } from '#src/identity/sessions.ts'

export interface Cookie {
  read(request: Request): string | undefined
  /** Returns the Set-Cookie header that stores a value, or clears it. */
  write(value: string | undefined): string
}

/** Over https the prefix `__Host-` binds the cookie to this host; browsers refuse that prefix over plain http (RFC 6265bis, 4.1.3.2). */
export function privateCookie(
  plainName: string,
  { isHttps, maxAgeSeconds }: { isHttps: boolean; maxAgeSeconds: number },
): Cookie {
  const name = isHttps ? `__Host-${plainName}` : plainName
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`
  return {
    read(request) {
      for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
        const at = pair.indexOf('=')
        if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
      }
      return undefined
    },
    write: (value) => `${name}=${value ?? ''}; Max-Age=${value === undefined ? 0 : maxAgeSeconds}; ${attributes}`,
  }
}

/**
 * @param inTurn runs lookups of credentials in turn, because anybody can send some
 * @throws Failure SIGNED_OUT for an unknown bot token or invalid initData; TOO_MANY_ATTEMPTS for too many of these from one address
 */
export async function identify(
  request: Request,
  { sessionToken, address, inTurn }: { sessionToken: string | undefined; address: string; inTurn: InTurn },
  services: { sessions: Sessions; botTokens: BotTokens; readInitData: InitDataReader; attempts: Attempts },
): Promise<Caller> {
  const authorization = request.headers.get('authorization')
  if (authorization !== null) {
    const [, scheme = '', credential = ''] = /^(Bearer|tma) (\S+)$/i.exec(authorization) ?? []
    if (scheme.toLowerCase() === 'tma') {
      const player = services.readInitData(credential)
      if (player) return { kind: 'player', userId: player.userId }
    } else {
      const bot = await services.botTokens.find(credential, inTurn)
      if (bot) return { kind: 'bot', ...bot }
    }
    const message = scheme.toLowerCase() === 'tma' ? WRONG_INIT_DATA : WRONG_TOKEN
    await inTurn(() => services.attempts.count(limits.wrongTokenByAddress, address)).catch((error: unknown) => {
      if (!(error instanceof Failure && error.code === 'TOO_MANY_ATTEMPTS' && error.retryAfterSeconds !== undefined)) throw error
      const { code, retryAfterSeconds } = error
      throw new Failure(code, { message: `${message} ${TOO_MANY_WRONG}`, retryAfterSeconds })
    })
    throw new Failure('SIGNED_OUT', { message })
  }
  const session = sessionToken === undefined ? undefined : await services.sessions.find(sessionToken, inTurn, address)
  return session ? { kind: 'user', user: session.user, sessionId: session.sessionId } : { kind: 'guest' }
}

const WRONG_TOKEN = 'This bot token is wrong, or was revoked or replaced.'
const WRONG_INIT_DATA = 'This initData is malformed, too old, or was not signed for this console’s bot.'
const TOO_MANY_WRONG =
  'Too many such requests came from this address. A request with a valid credential is still answered at once.'

/** @throws Failure SIGNED_OUT or FORBIDDEN unless one of `access` covers the caller, and an admin's role has a permission of `needs` */
export function refuseWithoutAccess({ access, needs }: Pick<CallMeta, 'access' | 'needs'>, caller: Caller): void {
  if (access.includes('guest')) return
  if (caller.kind === 'guest') throw new Failure('SIGNED_OUT')
  if (!isAdmitted(access, caller)) throw new Failure('FORBIDDEN')
  if (caller.kind !== 'user' || access.includes('user')) return
  if (needs === undefined) throw new Failure('FORBIDDEN')
  refuseWithoutPermission(needs, caller.user)
}

function isAdmitted(access: readonly Access[], caller: Exclude<Caller, { kind: 'guest' }>): boolean {
  if (caller.kind === 'bot') return admitsBot(access, caller.scope)
  if (caller.kind === 'player') return access.includes('player')
  return access.includes('user') || (access.includes('admin') && caller.user.userType === 'admin')
}

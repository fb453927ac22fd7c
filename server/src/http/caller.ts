/** Who is calling: the session cookie, a bot's bearer token, and whether the call's access admits them (§6). */
import type { Access } from '@arcade/contract/call'
import type { BotTokens } from '#src/identity/bot-tokens.ts'
import { type Caller, Failure } from '#src/calls.ts'
import { SESSION_MAX_SECONDS, type Sessions } from '#src/identity/sessions.ts'

export interface SessionCookie {
  read(request: Request): string | undefined
  /** The Set-Cookie value that stores a token, or clears it. */
  write(token: string | undefined): string
}

/** Over https the prefix `__Host-` binds the cookie to this host; browsers refuse that prefix over plain http (RFC 6265bis, 4.1.3.2). */
export function sessionCookie(isHttps: boolean): SessionCookie {
  const name = isHttps ? '__Host-session' : 'session'
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`
  return {
    read(request) {
      for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
        const at = pair.indexOf('=')
        if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
      }
      return undefined
    },
    write: (token) =>
      token === undefined
        ? `${name}=; Max-Age=0; ${attributes}`
        : `${name}=${token}; Max-Age=${SESSION_MAX_SECONDS}; ${attributes}`,
  }
}

/** @throws Failure SIGNED_OUT for a bearer token that is not one of ours */
export async function identify(
  request: Request,
  sessionToken: string | undefined,
  services: { sessions: Sessions; botTokens: BotTokens },
): Promise<Caller> {
  const authorization = request.headers.get('authorization')
  if (authorization !== null) {
    const bot = await services.botTokens.find(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? '')
    if (!bot) throw new Failure('SIGNED_OUT')
    return { kind: 'bot', ...bot }
  }
  const user = sessionToken === undefined ? undefined : await services.sessions.userOf(sessionToken)
  return user ? { kind: 'user', user } : { kind: 'guest' }
}

/** @throws Failure SIGNED_OUT or FORBIDDEN unless one of `access` covers the caller */
export function refuseUnless(access: readonly Access[], caller: Caller): void {
  if (access.includes('guest')) return
  if (caller.kind === 'guest') throw new Failure('SIGNED_OUT')
  const isAllowed =
    caller.kind === 'bot'
      ? access.includes('bot')
      : access.includes('user') || (access.includes('admin') && caller.user.userType === 'admin')
  if (!isAllowed) throw new Failure('FORBIDDEN')
}

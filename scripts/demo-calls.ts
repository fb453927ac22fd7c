/** Calls of the running console, for those who use it during the demo: the game's bot with its token, and operators with their session. */

/** The console has refused a call, or could not be reached. */
export class CallFailed extends Error {
  /** The code of the refusal, such as `PLAYER_BLOCKED`; undefined if there was no answer. */
  readonly code: string | undefined

  constructor(message: string, { code, ...options }: { code?: string | undefined; cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

/** Sends a call with a JSON body, or the bytes of a file, and returns the answer. @throws CallFailed */
export type Call = <Answer = unknown>(method: string, path: string, body?: object | Buffer) => Promise<Answer>

async function send(
  url: string,
  method: string,
  body: object | Buffer | undefined,
  headers: Record<string, string>,
): Promise<Response> {
  const content = Buffer.isBuffer(body)
    ? { body: new Uint8Array(body), headers: { ...headers, 'content-type': 'image/png' } }
    : {
        ...(body && { body: JSON.stringify(body) }),
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      }
  const answer = await fetch(url, { method, ...content }).catch((cause: unknown) => {
    throw new CallFailed(`${method} ${url} had no answer`, { cause })
  })
  if (answer.ok) return answer
  const { code, message = answer.statusText } = (await answer.json().catch(() => ({}))) as { code?: string; message?: string }
  throw new CallFailed(`${method} ${url}: ${message}`, { code })
}

function callWith(consoleUrl: string, headers: Record<string, string>): Call {
  return async <Answer>(method: string, path: string, body?: object | Buffer) => {
    const answer = await send(`${consoleUrl}${path}`, method, body, headers)
    return (await answer.json()) as Answer
  }
}

/** Returns the calls of the game's bot. */
export function botOf(consoleUrl: string, token: string): Call {
  return callWith(`${consoleUrl}/bot/v1`, { authorization: `Bearer ${token}` })
}

/** Signs in, and returns the calls of this operator. */
export async function signIn(consoleUrl: string, account: { email: string; password: string }): Promise<Call> {
  const answer = await send(`${consoleUrl}/api/session`, 'POST', account, { origin: consoleUrl })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  return callWith(consoleUrl, { origin: consoleUrl, cookie })
}

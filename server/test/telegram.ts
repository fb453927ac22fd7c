/** A Bot API for tests: it keeps the messages that it has sent, and each test says what it does with a call. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SentMessage {
  chatId: number
  method: string
  /** The fields of the call; those of a form are texts. */
  fields: Record<string, unknown>
  /** The size of the uploaded image; undefined without one. */
  photoBytes: number | undefined
}

/**
 * What the server does with a call: it answers with this status, or:
 * - `drop`: sends the message and closes the connection without an answer
 * - `close`: closes the connection and sends nothing, which the caller cannot tell from `drop`
 * - `hang`: sends the message and never answers
 */
export type Behaviour =
  | 200
  | 400
  | 401
  | 403
  | 404
  | 429
  | 500
  | 502
  | 'drop'
  | 'close'
  | 'hang'
  | { status: number; body: object }

export interface FakeTelegram {
  url: string
  /** The messages that players have, in the order in which they got them. */
  sent: SentMessage[]
  /** How many calls came in. */
  calls(): number
  /** Changes what happens to the next calls. */
  behave(how: (chatId: number, call: number) => Behaviour | Promise<Behaviour>): void
  stop(): Promise<void>
}

export const BOT_TOKEN = '42:token-of-the-tests'
export const RETRY_AFTER_SECONDS = 1

const ANSWERS: Partial<Record<number, object>> = {
  400: { ok: false, error_code: 400, description: 'Bad Request: message is odd' },
  401: { ok: false, error_code: 401, description: 'Unauthorized' },
  403: { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' },
  404: { ok: false, error_code: 404, description: 'Not Found' },
  429: { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: RETRY_AFTER_SECONDS } },
  500: { ok: false, error_code: 500, description: 'Internal Server Error' },
}

/** @param port 0 for any */
export async function startTelegram(port = 0): Promise<FakeTelegram> {
  const sent: SentMessage[] = []
  let calls = 0
  let behaviour: (chatId: number, call: number) => Behaviour | Promise<Behaviour> = () => 200
  const server = http.createServer((request, response) => {
    void readCall(request).then(async (message) => {
      const does = await behaviour(message.chatId, ++calls)
      const arrives = does === 200 || does === 'drop' || does === 'hang'
      if (arrives) sent.push(message)
      if (does === 'hang') return
      if (does === 'drop' || does === 'close') {
        request.socket.destroy()
        return
      }
      const { status, body } = typeof does === 'object' ? does : { status: does, body: ANSWERS[does] ?? okay(message) }
      // A gateway answers with a page of its own.
      const text = does === 502 ? '<h1>Bad Gateway</h1>' : JSON.stringify(body)
      response.writeHead(status, { 'content-type': does === 502 ? 'text/html' : 'application/json' }).end(text)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    calls: () => calls,
    behave(how) {
      behaviour = how
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function okay({ chatId, method }: SentMessage): object {
  const photo = method === 'sendPhoto' ? { photo: [{ file_id: 'small' }, { file_id: 'photo-of-the-tests' }] } : {}
  return { ok: true, result: { message_id: 1, date: 1, chat: { id: chatId, type: 'private' }, ...photo } }
}

async function readCall(request: http.IncomingMessage): Promise<SentMessage> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = Buffer.concat(parts)
  const [, , method = ''] = (request.url ?? '').split('/')
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('application/json')) {
    const fields = JSON.parse(body.toString()) as Record<string, unknown>
    return { chatId: Number(fields['chat_id']), method, fields, photoBytes: undefined }
  }
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  const fields = Object.fromEntries(Array.from(form).filter(([, value]) => typeof value === 'string'))
  const photo = form.get('photo')
  return { chatId: Number(fields['chat_id']), method, fields, photoBytes: photo instanceof Blob ? photo.size : undefined }
}

/** A real SMTP server that keeps the mails it takes, and that can hang, be slow, refuse, or drop the connection. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** The addresses of the envelope. */
  from: string
  to: string[]
  headers: Record<string, string>
  text: string
  html: string
}

/**
 * `hang`: accepts connections and says nothing. `slow`: greets, then sends a line now and then without an end. `drop`: takes a mail, and
 * ends the connection before it says so. A number: the answer to a recipient or, with `at: 'data'`, to the whole mail.
 */
export type Behaviour = 'take' | 'hang' | 'slow' | 'drop' | { code: number; at: 'recipient' | 'data' | 'login' }

export interface MailServer {
  url: string
  port: number
  /** The mails that arrived, the earliest first; with `drop` also those that were not confirmed. */
  mails: ReceivedMail[]
  /** The number of connections so far. */
  connections: number
  behave(behaviour: Behaviour): void
}

/** Starts a server on a free port. */
export async function startMailServer(
  first: Behaviour = 'take',
  { login = false } = {},
): Promise<MailServer & { stop(): Promise<void> }> {
  let behaviour = first
  const sockets = new Set<Socket>()
  const smtp = smtpServer(() => behaviour, { login, taken: (mail) => taken.mails.push(mail), dropAll: () => endAll(sockets) })
  const server: Server = createServer((socket) => {
    taken.connections += 1
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (behaviour === 'slow') drip(socket)
    else if (behaviour !== 'hang') smtp.server.emit('connection', socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const taken = {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails: [] as ReceivedMail[],
    connections: 0,
    behave: (next: Behaviour) => void (behaviour = next),
    async stop() {
      endAll(sockets)
      server.close()
      await once(server, 'close')
    },
  }
  return taken
}

function endAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

/** Sends a greeting that never ends, so that the connection is never idle. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('220-Please wait\r\n'), 20)
  socket.on('close', () => clearInterval(timer))
}

interface Options {
  login: boolean
  taken: (mail: ReceivedMail) => void
  dropAll: () => void
}

function smtpServer(behaviour: () => Behaviour, { login, taken, dropAll }: Options): SMTPServer {
  const refusalAt = (place: string): Error | null => {
    const present = behaviour()
    if (typeof present === 'string' || present.at !== place) return null
    return Object.assign(new Error('Refused: somebody@example.org is not known here'), { responseCode: present.code })
  }
  return new SMTPServer({
    disabledCommands: login ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    authOptional: !login,
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username }, _session, callback) => callback(refusalAt('login'), { user: username }),
    onRcptTo: (_address, _session, callback) => callback(refusalAt('recipient')),
    onData(stream, { envelope: { mailFrom, rcptTo } }, callback) {
      const taking = text(stream).then((raw) => {
        const refusal = refusalAt('data')
        if (refusal) return callback(refusal)
        taken({ from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address), ...parse(raw) })
        if (behaviour() === 'drop') return dropAll()
        return callback()
      })
      taking.catch(() => {}) // the client has gone
    },
  })
}

/** Reads a mail of two bodies as nodemailer writes it: plain text and HTML, each quoted-printable, base64 or plain. */
function parse(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const [head, rest] = split(raw)
  const headers = headersOf(head)
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1] ?? ''
  const parts = rest.split(`--${boundary}`).map((part) => split(part.trimStart()))
  const body = (type: string): string => {
    const [partHead = '', content = ''] = parts.find(([one]) => headersOf(one)['content-type']?.startsWith(type)) ?? []
    return decode(content.trimEnd(), headersOf(partHead)['content-transfer-encoding'])
  }
  return { headers, text: body('text/plain'), html: body('text/html') }
}

function split(message: string): [head: string, body: string] {
  const at = message.indexOf('\r\n\r\n')
  return at < 0 ? [message, ''] : [message.slice(0, at), message.slice(at + 4)]
}

function headersOf(head: string): Record<string, string> {
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return Object.fromEntries(lines.map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]))
}

function decode(content: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(content, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return content.replaceAll('\r\n', '\n')
  const bytes = content
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}

/** Returns the token of the one link of a mail. */
export function linkIn({ text: body }: Pick<ReceivedMail, 'text'>): string {
  const [, token] = /\?link=([\w-]{43})$/m.exec(body) ?? []
  if (token === undefined) throw new Error(`There is no link in ${body}`)
  return token
}

/** A real SMTP server that keeps the mails it takes, and that can hang, be slow, refuse, or drop the connection. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** The addresses of the envelope. */
  from: string
  to: string[]
  headers: Record<string, string>
  text: string
  html: string
  /** Whether the server has said that it took the mail. */
  isConfirmed: boolean
}

/**
 * `hang`: accepts connections and says nothing. `slow`: greets, then sends a line now and then without an end. `drop`: takes a mail, and
 * ends the connection before it says so. `late`: says after a while that it took a mail. `hold`: takes a mail and sends a line now and
 * then, until `release`. A number: the answer to a recipient or, with `at: 'data'`, to the whole mail.
 */
export type Behaviour = 'take' | 'hang' | 'slow' | 'drop' | 'late' | 'hold' | { code: number; at: 'recipient' | 'data' | 'login' }

/** What happens to a mail: its recipient was named, all of it has arrived, or the server has said that it took it. */
export type MailEvent = 'recipient' | 'data' | 'answer'

interface Watching {
  /** The behaviour towards each mail, from its recipient on: `hang` then takes a mail and says nothing. */
  towards?: (recipient: string) => Behaviour
  watch?: (event: MailEvent, recipient: string) => void
}

export interface MailServer {
  url: string
  port: number
  /** The mails that arrived, the earliest first; with `drop` also those that were not confirmed. */
  mails: ReceivedMail[]
  /** The number of connections so far. */
  connections: number
  behave(behaviour: Behaviour): void
  /** The connections of mails that `hold` keeps. */
  held(): Socket[]
  /** Confirms the mails that are held. */
  release(): void
}

/** Starts a server on a free port. */
export async function startMailServer(
  first: Behaviour = 'take',
  { login = false, ...watching }: { login?: boolean } & Watching = {},
): Promise<MailServer & { stop(): Promise<void> }> {
  let behaviour = first
  const sockets = new Set<Socket>()
  const held = new Map<Socket, () => void>()
  const from = (port: number): Socket | undefined => [...sockets].find(({ remotePort }) => remotePort === port)
  const hold = (port: number): Promise<void> => {
    const socket = from(port)
    return new Promise((resolve) => {
      if (!socket) return
      held.set(socket, resolve)
      drip(socket, '250-Please wait\r\n', () => held.has(socket))
      socket.on('close', () => held.delete(socket))
    })
  }
  const smtp = smtpServer(() => behaviour, {
    login,
    watching,
    taken: (mail) => taken.mails.push(mail),
    drop: (port) => void from(port)?.destroy(),
    hold,
  })
  const server: Server = createServer((socket) => {
    taken.connections += 1
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (behaviour === 'slow') drip(socket, '220-Please wait\r\n')
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
    held: () => [...held.keys()],
    release() {
      const confirmations = [...held.values()]
      held.clear()
      for (const confirm of confirmations) confirm()
    },
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

/** Sends a line of an answer again and again, so that the connection is never idle. */
function drip(socket: Socket, line: string, goesOn = () => true): void {
  const timer = setInterval(() => {
    if (goesOn()) socket.write(line)
    else clearInterval(timer)
  }, 20)
  socket.on('close', () => clearInterval(timer))
}

/** How long a `late` server takes, in ms. */
const LATE_MS = 200

interface Options {
  login: boolean
  watching: Watching
  taken: (mail: ReceivedMail) => void
  /** Ends the connection from this port. */
  drop: (port: number) => void
  /** Resolves when the mail of this connection may be confirmed; never if the client goes away first. */
  hold: (port: number) => Promise<void>
}

function smtpServer(behaviour: () => Behaviour, { login, watching, taken, drop, hold }: Options): SMTPServer {
  /** What was decided for the mail of each connection. */
  const decided = new Map<string, Behaviour>()
  const refusalAt = (place: string, present = behaviour()): Error | null => {
    if (typeof present === 'string' || present.at !== place) return null
    return Object.assign(new Error('Refused: somebody@example.org is not known here'), { responseCode: present.code })
  }
  const smtp = new SMTPServer({
    disabledCommands: login ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    authOptional: !login,
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username }, _session, callback) => callback(refusalAt('login'), { user: username }),
    onRcptTo({ address }, { id }, callback) {
      const present = watching.towards?.(address) ?? behaviour()
      decided.set(id, present)
      watching.watch?.('recipient', address)
      callback(refusalAt('recipient', present))
    },
    onClose: ({ id }) => void decided.delete(id),
    onData(stream, { id, remotePort, envelope: { mailFrom, rcptTo } }, callback) {
      const taking = text(stream).then(async (raw) => {
        const present = decided.get(id) ?? behaviour()
        const refusal = refusalAt('data', present)
        if (refusal) return callback(refusal)
        const to = rcptTo.map(({ address }) => address)
        const mail = { from: mailFrom ? mailFrom.address : '', to, ...parse(raw), isConfirmed: false }
        taken(mail)
        watching.watch?.('data', to[0]!)
        if (present === 'drop') return drop(remotePort)
        if (present === 'hang') return
        if (present === 'late') await pause(LATE_MS)
        if (present === 'hold') await hold(remotePort)
        mail.isConfirmed = true
        callback()
        watching.watch?.('answer', to[0]!)
      })
      taking.catch(() => {}) // the client has gone
    },
  })
  // A client that is killed resets its connection; the library reports that here, and an error without a listener ends the process.
  smtp.on('error', () => {})
  return smtp
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

/**
 * Hands a mail to the SMTP server of SMTP_URL. Hides nodemailer, its limits of time, and what the server's answers mean. A result names no
 * address: the texts of SMTP servers often repeat it.
 */
import { createTransport } from 'nodemailer'
import type { MailSettings } from '#src/config.ts'
import { isLoopback } from '#src/loopback.ts'
import type { Bodies } from './letter.ts'

export interface Outgoing extends Bodies {
  /** The same at each attempt, so that receivers can tell a mail that was sent twice. */
  id: string
  recipient: string
}

export interface Attempt {
  /** `refused`: the server will never take this mail, so that trying again is useless. */
  outcome: 'sent' | 'failed' | 'refused'
  /** A sentence that operators see. */
  text: string
}

/** The limits of one attempt, in milliseconds. `whole` also stops a server that sends a byte from time to time. */
export interface SmtpLimits {
  connect: number
  greeting: number
  idle: number
  whole: number
}

export const SMTP_LIMITS: SmtpLimits = { connect: 10_000, greeting: 10_000, idle: 20_000, whole: 45_000 }

export interface Smtp {
  send(mail: Outgoing): Promise<Attempt>
  /** Ends the attempts that are under way; they fail. */
  stop(): void
}

export function createSmtp({ smtp, from, origin }: MailSettings, limits: SmtpLimits = SMTP_LIMITS): Smtp {
  const { host, port, isSecure, login } = smtp
  const stopped = new AbortController()
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return {
    async send({ id, recipient, subject, text, html }) {
      const transport = createTransport({
        host,
        port,
        secure: isSecure,
        // A password and the links of mails never leave the machine in the clear, unless the server needs no password.
        requireTLS: login !== undefined && !isLoopback(host),
        ...(login && { auth: { user: login.user, pass: login.password } }),
        connectionTimeout: limits.connect,
        greetingTimeout: limits.greeting,
        socketTimeout: limits.idle,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      const ending = new AbortController()
      const handleStop = (): void => ending.abort(new CutOff('The server stopped while it was sending'))
      const timer = setTimeout(() => ending.abort(new CutOff('The mail server was too slow')), limits.whole)
      stopped.signal.addEventListener('abort', handleStop)
      try {
        await transport.sendMail({
          from: { name: 'Arcade Console', address: from },
          // As an object, the address is taken as it is: a comma or a bracket in it does not add another one.
          to: { name: '', address: recipient },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Arcade-Console': origin },
          // Also ends the connection. The transport's `close` would not.
          signal: ending.signal,
        })
        return { outcome: 'sent', text: 'Taken by the mail server' }
      } catch (error) {
        return failureOf(ending.signal.aborted ? ending.signal.reason : error)
      } finally {
        clearTimeout(timer)
        stopped.signal.removeEventListener('abort', handleStop)
      }
    },
    stop: () => stopped.abort(),
  }
}

class CutOff extends Error {}

/** Errors of nodemailer that are about this one mail: its envelope or its content. */
const OF_THE_MAIL = ['EENVELOPE', 'EMESSAGE']

/** Says in words of ours how an attempt failed. */
function failureOf(error: unknown): Attempt {
  if (error instanceof CutOff) return { outcome: 'failed', text: error.message }
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  const isRefused = responseCode !== undefined && responseCode >= 500 && OF_THE_MAIL.includes(code ?? '')
  const text = responseCode === undefined || code === 'ETLS' ? unansweredText(code) : answeredText(responseCode, code)
  return { outcome: isRefused ? 'refused' : 'failed', text }
}

function answeredText(responseCode: number, code: string | undefined): string {
  return `The mail server answered ${responseCode}${code === 'EAUTH' ? ': it does not accept the user or the password of SMTP_URL' : ''}`
}

function unansweredText(code: string | undefined): string {
  switch (code) {
    case 'ETIMEDOUT':
      return 'The mail server did not answer in time'
    case 'ECONNECTION':
    case 'ESOCKET':
    case 'ECONNREFUSED':
      return 'The mail server could not be reached, or it ended the connection'
    case 'EDNS':
      return 'The name of the mail server could not be found'
    case 'ETLS':
      return 'There was no encrypted connection to the mail server'
    case 'EAUTH':
      return 'The mail server does not accept the user or the password of SMTP_URL'
    default:
      return `The mail could not be handed over (${code ?? 'unknown'})`
  }
}

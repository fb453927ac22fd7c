/**
 * The queue of mails. An act queues a mail in its own transaction, so no request waits for SMTP, and no mail is sent of an act that failed.
 * Any server sends: it leases a mail, hands it over and records the result. A mail that fails is tried again after growing pauses, for a day
 * at most. If a server dies between handing over and recording, the mail is sent twice, with the same Message-ID.
 */
import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { MailSettings } from '#src/config.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'
import { type Bodies, writeLetter } from './letter.ts'
import { type Attempt, createSmtp, type Smtp, SMTP_LIMITS, type SmtpLimits } from './smtp.ts'
import { type Content, letterOf, type MailKind, usefulMinutes } from './texts.ts'

/** Pauses between attempts in seconds; the last one repeats until the mail is of no use any more. */
const RETRY_AFTER_SECONDS = [10, 60, 300, 900, 3600, 7200]
/** Mails that one server hands over at the same time: few, because SMTP servers limit connections from one address. */
const SENT_AT_ONCE = 4
/** Days for which the queue keeps mails that were sent or given up, without what they said. */
const KEPT_DAYS = 7
/** Longer than an attempt can take, so that no other server sends a mail meanwhile. */
const LEASE_SECONDS = (2 * SMTP_LIMITS.whole) / 1000

/** A mail to the present address of a user, or to an address that no user may have yet. */
type Recipient = { userId: string } | { email: string; userId?: string; invitationId?: string }

export type Mail = { to: Recipient } & Content

export interface Mails {
  /** Whether SMTP_URL is set. Without it nothing is queued. */
  readonly isOn: boolean
  /** Queues a mail in the transaction of its act. A user who was removed, or an address that cannot be one, gets none. */
  queue(tx: Kysely<Tables>, mail: Mail): Promise<void>
  /** Hands over the mails that are due, and resolves when all of them have ended. A call during another one does only what the limit allows. */
  sendDue(): Promise<void>
  /** Gives up mails that are of no use any more and deletes old ones. */
  sweep(): Promise<void>
  /** Ends the attempts under way. Other servers, or the next start, try them again. */
  stop(): void
}

interface MailsOptions {
  database: Database
  key: SecretKey
  settings: MailSettings | undefined
  log: Logger
  /** Tests set shorter times. */
  limits?: SmtpLimits
}

export function createMails({ database, key, settings, log, limits }: MailsOptions): Mails {
  const smtp = settings && createSmtp(settings, limits)
  const sender = smtp && new MailSender({ database, key, smtp, log })
  return {
    isOn: settings !== undefined,
    async queue(tx, { to, ...content }) {
      if (!settings) return
      const { recipient, userId, invitationId } = await findRecipient(tx, to)
      if (recipient === undefined || !z.regexes.email.test(recipient)) return
      const bodies = writeLetter(letterOf(content), settings.origin)
      await sql`insert into mails (kind, user_id, invitation_id, recipient, content, give_up_at)
        values (${content.kind}, ${userId ?? null}, ${invitationId ?? null}, ${recipient}, ${key.encrypt(JSON.stringify(bodies))},
                now() + make_interval(mins => ${usefulMinutes[content.kind]}))`.execute(tx)
    },
    sendDue: async () => sender?.sendDue(),
    sweep: () => sweep({ database, log }),
    stop: () => sender?.stop(),
  }
}

async function findRecipient(
  tx: Kysely<Tables>,
  to: Recipient,
): Promise<{ recipient?: string; userId?: string | undefined; invitationId?: string | undefined }> {
  if ('email' in to) return { recipient: to.email, userId: to.userId, invitationId: to.invitationId }
  const user = await tx.selectFrom('users').select('email').where('id', '=', to.userId).executeTakeFirst()
  return user ? { recipient: user.email, userId: to.userId } : {}
}

interface Leased {
  id: string
  kind: MailKind
  recipient: string
  content: Buffer
  attempts: number
}

class MailSender {
  readonly #database: Database
  readonly #key: SecretKey
  readonly #smtp: Smtp
  readonly #log: Logger
  #underWay = 0
  #isStopped = false

  constructor({ database, key, smtp, log }: { database: Database; key: SecretKey; smtp: Smtp; log: Logger }) {
    this.#database = database
    this.#key = key
    this.#smtp = smtp
    this.#log = log
  }

  async sendDue(): Promise<void> {
    while (!this.#isStopped) {
      const leased = await this.#lease()
      if (leased.length === 0) return
      await Promise.all(leased.map((mail) => this.#send(mail)))
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#smtp.stop()
  }

  async #lease(): Promise<Leased[]> {
    const free = SENT_AT_ONCE - this.#underWay
    if (free <= 0) return []
    this.#underWay += free
    const { rows } = await sql<Leased>`
      with due as materialized (
        select id from mails where next_at <= now() and give_up_at > now() and content is not null
         order by next_at limit ${free} for update skip locked)
      update mails set attempts = attempts + 1, next_at = now() + make_interval(secs => ${LEASE_SECONDS})
        from due where mails.id = due.id
      returning mails.id, kind, recipient, content, attempts`
      .execute(this.#database.db)
      .finally(() => (this.#underWay -= free))
    this.#underWay += rows.length
    return rows
  }

  async #send(mail: Leased): Promise<void> {
    try {
      const attempt = await this.#attempt(mail)
      await recordMail({ database: this.#database, log: this.#log }, mail, attempt)
    } catch (error) {
      this.#log.warn({ err: error, mail: mail.id }, 'The result of a mail could not be stored; it may be sent again')
    } finally {
      this.#underWay -= 1
    }
  }

  async #attempt({ id, recipient, content }: Leased): Promise<Attempt> {
    let bodies: Bodies
    try {
      bodies = JSON.parse(this.#key.decrypt(content)) as Bodies
    } catch {
      return { outcome: 'refused', text: 'It cannot be read: SECRET_KEY has changed since the mail was queued' }
    }
    return this.#smtp.send({ id, recipient, ...bodies })
  }
}

interface Recorder {
  database: Database
  log: Logger
}

/** Records how an attempt ended. What a mail said is deleted with its last attempt, because it may hold a link that lets somebody in. */
async function recordMail(
  { database, log }: Recorder,
  { id, kind, attempts }: Leased,
  { outcome, text }: Attempt,
): Promise<void> {
  if (outcome === 'sent') {
    await sql`update mails set sent_at = now(), next_at = null, content = null, result = ${text} where id = ${id}`.execute(
      database.db,
    )
    return
  }
  const pause = (RETRY_AFTER_SECONDS[attempts - 1] ?? RETRY_AFTER_SECONDS.at(-1)!) * (0.9 + Math.random() * 0.2)
  const isLast = sql`(${outcome === 'refused'}::boolean or give_up_at <= now() + make_interval(secs => ${pause}::float8))`
  const { rows } = await sql<{ isGivenUp: boolean }>`
    update mails set result = ${text},
           given_up_at = case when ${isLast} then now() end,
           content = case when not ${isLast} then content end,
           next_at = case when not ${isLast} then now() + make_interval(secs => ${pause}::float8) end
     where id = ${id} and sent_at is null returning given_up_at is not null as "isGivenUp"`.execute(database.db)
  const isGivenUp = rows[0]?.isGivenUp ?? false
  log.warn(
    { event: isGivenUp ? 'mail-given-up' : 'mail-failed', mail: id, kind, attempts, result: text },
    isGivenUp ? 'A mail was given up' : 'A mail could not be sent and will be tried again',
  )
}

/** Also gives up what was queued before SMTP_URL was taken away, and what a server left that died during its last attempt. */
async function sweep({ database, log }: Recorder): Promise<void> {
  const { rows } = await sql<{ id: string; kind: string }>`
    update mails set given_up_at = now(), next_at = null, content = null, result = coalesce(result, 'It was never tried')
     where next_at <= now() and give_up_at <= now() returning id, kind`.execute(database.db)
  for (const { id, kind } of rows) log.warn({ event: 'mail-given-up', mail: id, kind }, 'A mail was given up')
  await sql`delete from mails where next_at is null and created_at < now() - make_interval(days => ${KEPT_DAYS})`.execute(
    database.db,
  )
}

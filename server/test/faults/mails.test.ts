/** A server that is killed while it sends mails to an SMTP server with every fault: no mail is lost, and each copy too many has a reason. */
import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { Alert } from '@arcade/contract/dashboard/calls'
import type { OpenInvitation } from '@arcade/contract/invitations/calls'
import { type Behaviour, type MailEvent, type MailServer, type ReceivedMail } from '#test/mail-server.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { reportFigure } from '#test/size.ts'
import { createDatabase } from '#test/test-database.ts'
import { mailServer } from '#test/test-mail-server.ts'
import { onServer } from '#test/test-server.ts'
import { connectionsEnded, expectGoodEnd, signInAdmin, startServer } from './console-process.ts'

/** Mails that a server hands over at the same time (mail/mails.ts). */
const AT_ONCE = 4
/** How many there are of each kind. The admin's sign-in is from a new device. */
const MAILS = { invitation: 60, forgottenPassword: 30, roleChange: 30, newDevice: 1 }
/** At which event of a server's life it is killed. */
const KILLS: { at: MailEvent; count: number; hanging?: boolean }[] = [
  { at: 'data', count: 10 },
  { at: 'recipient', count: 10 },
  { at: 'answer', count: 10 },
  { at: 'data', count: AT_ONCE, hanging: true },
  { at: 'data', count: 10 },
]

/** What the SMTP server does with the mail to person N, by the last digit of N, at each attempt. The others are taken. */
const FAULTS: Record<string, (attempt: number) => Behaviour> = {
  0: () => 'late',
  5: (attempt) => (attempt === 1 ? 'drop' : 'take'),
  6: (attempt) => (attempt === 1 ? { code: 452, at: 'data' } : 'take'),
  7: (attempt) => (attempt <= 2 ? { code: 450, at: 'recipient' } : 'take'),
  8: () => ({ code: 554, at: 'data' }),
  9: () => ({ code: 550, at: 'recipient' }),
}
const isRefused = (recipient: string): boolean => /[89]@/.test(recipient)

interface Row {
  id: string
  recipient: string
  isSent: boolean
  isGivenUp: boolean
  isEmpty: boolean
  result: string | null
}

test(
  'security: crash: a server is killed five times while SMTP hangs, refuses, drops answers and is slow: no mail is lost, none is sent again without a reason, and no request waits',
  { timeout: 10 * 60_000 },
  async () => {
    const attempts = new Map<string, number>()
    let [isHeld, isHanging] = [true, false]
    let handleEvent = (_event: MailEvent): void => {}
    const smtp = await mailServer('take', {
      towards(recipient) {
        if (isHeld && !isRefused(recipient)) return 'hold'
        if (isHanging && !isRefused(recipient)) return 'hang'
        const attempt = (attempts.get(recipient) ?? 0) + 1
        attempts.set(recipient, attempt)
        return FAULTS[/\d(?=@)/.exec(recipient)?.[0] ?? '']?.(attempt) ?? 'take'
      },
      watch: (event) => handleEvent(event),
    })
    const url = await createDatabase('mails', { isMigrated: true })
    const sql = <Found>(text: string): Promise<Found[]> => onServer(url, (run) => run<Found>(text))
    await prepare(sql)
    const dataDir = await temporaryDataDir()
    const env = { DATABASE_URL: url, SMTP_URL: smtp.url, SECRET_KEY: 'k'.repeat(32), PUBLIC_URL: 'https://console.example.org' }
    let server = startServer(dataDir, env)
    let address = await server.ready
    const cookie = await signInAdmin(address)
    const ask = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
      const headers = { cookie, 'content-type': 'application/json' }
      const answer = await fetch(address + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      const text = await answer.text()
      expect(answer.status, text).toBe(200)
      return JSON.parse(text) as Answer
    }

    await queueMails(ask, smtp)
    await waitFor('all mails to be queued', async () => (await sql(`select from mails`)).length === total)
    isHeld = false

    /** For each kill, the copies that the server had handed over without coming to record it. */
    const unrecorded: ReceivedMail[][] = []
    for (const { at, count, hanging = false } of KILLS) {
      const before = smtp.mails.length
      let left = count
      isHanging = hanging
      const killed = new Promise<void>((resolve) => {
        handleEvent = (event) => {
          if (event === at) left -= 1
          if (left === 0) resolve(void server.child.kill('SIGKILL'))
        }
      })
      smtp.release()
      await killed
      await server.ended
      await connectionsEnded(url)
      ;[isHanging, handleEvent] = [false, () => {}]
      const open = new Set((await sql<Row>(`select id from mails where next_at is not null`)).map(({ id }) => id))
      unrecorded.push(smtp.mails.slice(before).filter((mail) => open.has(idOf(mail))))
      // The dead server's leases end.
      await sql(`update mails set next_at = now() where next_at is not null`)
      server = startServer(dataDir, env)
      address = await server.ready
    }
    const isEmpty = async () => (await sql(`select from mails where next_at is not null`)).length === 0
    await waitFor('the queue to have nothing left', isEmpty, 5 * 60_000)

    const rows = await sql<Row>(`select id, recipient, sent_at is not null as "isSent", given_up_at is not null as "isGivenUp",
      content is null as "isEmpty", result from mails`)
    expect(rows).toHaveLength(total)
    expect(new Set(rows.map(({ recipient }) => recipient)).size).toBe(total)
    const refused = rows.filter(({ recipient }) => isRefused(recipient))
    expect(rows.filter(({ isSent }) => !isSent)).toEqual(refused)
    expect(rows.filter(({ isGivenUp }) => isGivenUp)).toEqual(refused)
    expect(new Set(refused.map(({ result }) => result))).toEqual(
      new Set(['The mail server answered 550', 'The mail server answered 554']),
    )
    expect(rows.filter((row) => !row.isEmpty)).toEqual([])
    const copiesOf = Map.groupBy(smtp.mails, idOf)
    expect(rows.filter(({ id, isSent }) => isSent && !copiesOf.get(id)?.at(-1)?.isConfirmed)).toEqual([])
    const again = rows.flatMap(({ id, isSent }) => (copiesOf.get(id) ?? []).slice(0, isSent ? -1 : undefined))
    const perKill = unrecorded.map((copies) => copies.filter(({ isConfirmed }) => isConfirmed).length)
    expect(again.filter((mail) => mail.isConfirmed && !unrecorded.flat().includes(mail)).map(({ to }) => to)).toEqual([])
    expect(Math.max(...perKill)).toBeLessThanOrEqual(AT_ONCE)

    const { alerts } = await ask<{ alerts: Alert[] }>('GET', '/api/alerts')
    expect(alerts).toContainEqual({
      id: 'mail',
      about: 'mail',
      text: expect.stringMatching(
        new RegExp(
          `^${refused.length} mails of the last day could not be sent at all. The last attempt: The mail server answered 55`,
        ),
      ) as string,
    })
    const { invitations } = await ask<{ invitations: OpenInvitation[] }>('GET', '/api/invitations')
    expect(invitations).toHaveLength(MAILS.invitation)
    expect(invitations.filter(({ email, mail }) => mail !== (isRefused(email) ? 'failed' : 'sent'))).toEqual([])
    await expectGoodEnd(server)
    reportFigure(
      `mails: ${total} queued, ${KILLS.length} kills: ${total - refused.length} sent, ${refused.length} refused for good and shown, none lost; ` +
        `${smtp.mails.length} copies, of which ${again.filter(({ isConfirmed }) => !isConfirmed).length} without an answer and ` +
        `${perKill.reduce((sum, one) => sum + one)} not recorded by a killed server`,
    )
  },
)

const total = Object.values(MAILS).reduce((sum, count) => sum + count)

/** Adds the people who get mails. A mail that failed is due again at once: the test waits for no pause. */
async function prepare(sql: (text: string) => Promise<unknown>): Promise<void> {
  await sql(`insert into users (id, fname, lname, email, user_type)
    select kind || n, 'Person', n::text, kind || n || '@example.org', 'user'
      from generate_series(1, 30) n, unnest(array['forgetful', 'promoted']) kind`)
  await sql(`create function due_at_once() returns trigger language plpgsql as $$ begin
    if new.attempts = old.attempts and new.next_at > now() then new.next_at := now(); end if;
    return new;
  end $$`)
  await sql(`create trigger due_at_once before update on mails for each row execute function due_at_once()`)
}

/** Makes the calls that queue all mails, while the SMTP server holds what it gets. The first ones are answered before it lets go of the first mail. */
async function queueMails(
  ask: (method: string, path: string, body: object) => Promise<unknown>,
  smtp: MailServer,
): Promise<void> {
  const invite = (n: number) => ask('POST', '/api/invitations', { email: `invited${n}@example.org`, role: 'editor' })
  const forget = (n: number) => ask('POST', '/api/forgotten-password', { email: `forgetful${n}@example.org` })
  const promote = (n: number) => ask('PUT', `/api/users/promoted${n}/role`, { role: 'analyst' })
  await waitFor('the mail about the sign-in to be held', () => smtp.held().length > 0)
  const letGo = once(smtp.held()[0]!, 'close').then(() => 'let go')
  for (const call of [...range(1, AT_ONCE).map((n) => () => invite(n)), () => forget(1), () => promote(1)])
    expect(await Promise.race([letGo, call().then(() => 'answered')])).toBe('answered')
  for (const n of range(AT_ONCE + 1, MAILS.invitation)) await invite(n)
  for (const n of range(2, MAILS.roleChange)) {
    await forget(n)
    await promote(n)
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n)
}

/** Returns the id of a mail's row, which is in its Message-ID. */
function idOf({ headers }: ReceivedMail): string {
  return /^<([\da-f-]{36})@/.exec(headers['message-id'] ?? '')?.[1] ?? ''
}

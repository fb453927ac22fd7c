/** The queue of mails against a real SMTP server that also hangs, is slow, refuses, and drops connections. */
import { sql } from 'kysely'
import { type Logger, pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import type { Database } from '#src/db/database.ts'
import { secretKey } from '#src/webhooks/secret-key.ts'
import type { Behaviour } from '#test/mail-server.ts'
import { waitFor } from '#test/processes.ts'
import { testApp } from '#test/test-app.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import { mailServer } from '#test/test-mail-server.ts'
import { createMails, type Mail, type Mails } from './mails.ts'
import type { SmtpLimits } from './smtp.ts'

const ORIGIN = 'https://console.example.org'
/** For servers that never answer. A busy machine may take longer for what succeeds. */
const SHORT = { connect: 400, greeting: 400, idle: 400, whole: 900 }
const invitation = (to = 'ada@example.org'): Mail => ({
  to: { email: to },
  kind: 'invitation',
  by: 'Grace Hopper',
  role: 'editor',
  path: '/invitation?link=abc',
})

interface Options {
  url: string
  database?: Database
  key?: string
  log?: Logger
  limits?: SmtpLimits
}

async function mailsTo({ url, database, key = 'key', log = pino({ level: 'silent' }), limits }: Options): Promise<Mails> {
  const { mail: settings } = readConfig({ SMTP_URL: url, PUBLIC_URL: ORIGIN })
  const mails = createMails({
    database: database ?? (await testDatabase()),
    key: secretKey(key),
    settings,
    log,
    ...(limits && { limits }),
  })
  onTestFinished(() => mails.stop())
  return mails
}

async function queued() {
  const { db } = await testDatabase()
  const { rows } = await sql<{
    kind: string
    content: Buffer | null
    attempts: number
    result: string | null
    isSent: boolean
    isGivenUp: boolean
    waitSeconds: number | null
  }>`select kind, content, attempts, result, sent_at is not null as "isSent", given_up_at is not null as "isGivenUp",
            extract(epoch from next_at - now())::float8 as "waitSeconds" from mails order by created_at, id`.execute(db)
  return rows
}

const makeDue = async () => {
  const { db } = await testDatabase()
  await sql`update mails set next_at = now() where next_at is not null`.execute(db)
}

describe('a mail', () => {
  test('is sent once, as plain text and HTML, and the queue forgets what it said', async () => {
    const server = await mailServer()
    const mails = await mailsTo(server)
    const { db } = await testDatabase()
    await mails.queue(db, invitation())
    expect(server.connections).toBe(0)
    expect((await queued())[0]!.content!.toString('latin1')).not.toContain('abc')
    await mails.sendDue()
    await mails.sendDue()
    expect(server.mails).toHaveLength(1)
    const [mail] = server.mails
    expect(mail).toMatchObject({
      from: 'arcade-console@console.example.org',
      to: ['ada@example.org'],
      headers: {
        from: 'Arcade Console <arcade-console@console.example.org>',
        to: 'ada@example.org',
        subject: 'You are invited to the Arcade Console',
        'auto-submitted': 'auto-generated',
        'message-id': expect.stringMatching(/^<[\da-f-]{36}@console\.example\.org>$/) as string,
      },
    })
    expect(mail!.text).toContain('Grace Hopper invites you to the Arcade Console as Editor.')
    expect(mail!.text).toContain(`Accept the Invitation:\n${ORIGIN}/invitation?link=abc`)
    expect(mail!.html).toContain(`<a href="${ORIGIN}/invitation?link=abc"`)
    expect(await queued()).toMatchObject([{ content: null, attempts: 1, isSent: true, isGivenUp: false, waitSeconds: null }])
  })

  test('is not sent if its act failed, and not queued without SMTP_URL, for nobody or to what is no address', async () => {
    const server = await mailServer()
    const mails = await mailsTo(server)
    const database = await testDatabase()
    const failing = database.transaction(async (tx) => {
      await mails.queue(tx, invitation())
      throw new Error('the act failed')
    })
    await expect(failing).rejects.toThrow('the act failed')
    const off = createMails({ database, key: secretKey('key'), settings: undefined, log: pino({ level: 'silent' }) })
    await off.queue(database.db, invitation())
    await off.sendDue()
    await mails.queue(database.db, { to: { userId: 'nobody' }, kind: 'roleChange', role: null })
    await mails.queue(database.db, invitation('nobody'))
    expect(await queued()).toEqual([])
  })

  test('security: names can add neither headers, recipients, lines nor HTML', async () => {
    const server = await mailServer()
    const mails = await mailsTo(server)
    const { db } = await testDatabase()
    for (const to of ['a@b.org\r\nBcc: evil@x.org', 'a@b.org,evil@x.org', 'a@b.org>, <evil@x.org', 'Evil <evil@x.org>'])
      await mails.queue(db, invitation(to))
    expect(await queued()).toEqual([])
    const by = 'Eve\r\nBcc: evil@x.org\r\n\r\n<script>alert(1)</script> & "Co"\u2028-- \u202Etxt'
    await mails.queue(db, { ...invitation(), by } as Mail)
    await mails.sendDue()
    const [mail] = server.mails
    expect(mail!.to).toEqual(['ada@example.org'])
    expect(mail!.headers['bcc']).toBeUndefined()
    expect(mail!.text.split('\n')[0]).toMatch(/^Eve +Bcc: evil@x\.org +<script>alert\(1\)<\/script> & "Co" -- txt invites you/)
    expect(mail!.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;Co&quot;')
    expect(mail!.html).not.toContain('<script')
  })

  test('of 40 is sent once each by two servers at the same time', async () => {
    const server = await mailServer()
    const both = [await mailsTo(server), await mailsTo({ url: server.url, database: await openAgain() })]
    const { db } = await testDatabase()
    for (let n = 0; n < 40; n += 1) await both[0]!.queue(db, invitation(`person${n}@example.org`))
    await Promise.all(both.flatMap((mails) => [mails.sendDue(), mails.sendDue()]))
    const everybody = Array.from({ length: 40 }, (_, n) => `person${n}@example.org`)
    expect(server.mails).toHaveLength(40)
    expect(new Set(server.mails.map(({ to }) => to[0]))).toEqual(new Set(everybody))
  })
})

describe('an SMTP server that', () => {
  const bad: [what: string, behaviour: Behaviour, result: RegExp][] = [
    ['hangs before its greeting', 'hang', /did not answer in time/],
    ['never ends its greeting', 'slow', /too slow|did not answer in time/],
    ['drops the connection', 'drop', /ended the connection/],
    ['answers 450 to the recipient', { code: 450, at: 'recipient' }, /answered 450$/],
    ['answers 452 to the mail', { code: 452, at: 'data' }, /answered 452$/],
  ]
  test.each(bad)('%s holds up nothing: the mail is tried again later, with the same id', async (_what, behaviour, result) => {
    const server = await mailServer(behaviour)
    const mails = await mailsTo(behaviour === 'hang' || behaviour === 'slow' ? { ...server, limits: SHORT } : server)
    const { db } = await testDatabase()
    await mails.queue(db, invitation())
    await mails.sendDue()
    const [failed] = await queued()
    expect(failed).toMatchObject({
      attempts: 1,
      isSent: false,
      isGivenUp: false,
      result: expect.stringMatching(result) as string,
    })
    expect(failed!.result).not.toContain('@')
    expect(failed!.waitSeconds).toBeGreaterThan(5)
    expect(failed!.waitSeconds).toBeLessThan(12)
    server.behave('take')
    await makeDue()
    await (await mailsTo(server)).sendDue()
    expect(await queued()).toMatchObject([{ content: null, attempts: 2, isSent: true }])
    expect(new Set(server.mails.map(({ headers }) => headers['message-id'])).size).toBe(1)
    expect(server.mails).toHaveLength(behaviour === 'drop' ? 2 : 1) // at least once: it was taken but not confirmed
  })

  test('takes a mail and answers without an end loses the connection when the attempt ends', async () => {
    const server = await mailServer('hold')
    const mails = await mailsTo(server)
    await mails.queue((await testDatabase()).db, invitation())
    const sending = mails.sendDue()
    await waitFor('the mail to be held', () => server.held().length === 1)
    mails.stop()
    await sending
    expect(await queued()).toMatchObject([{ isSent: false, result: 'The server stopped while it was sending' }])
    await waitFor('the end of the connection', () => server.held().length === 0)
  })

  test.each([
    ['the recipient', { code: 550, at: 'recipient' }],
    ['the mail', { code: 554, at: 'data' }],
  ] as const)(
    'refuses %s for good gets the mail once: it is given up, logged, and shown on the dashboard',
    async (_what, behaviour) => {
      const lines: string[] = []
      const server = await mailServer(behaviour)
      const app = await testApp()
      const admin = await app.signUp('admin')
      const mails = await mailsTo({ ...server, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) })
      await mails.queue(app.database.db, invitation())
      await mails.sendDue()
      await makeDue()
      await mails.sendDue()
      expect(await queued()).toMatchObject([{ content: null, attempts: 1, isSent: false, isGivenUp: true, waitSeconds: null }])
      expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['mail-given-up'])
      expect(lines.join('')).not.toContain('example.org')
      const { alerts } = (await admin.call('GET', '/api/alerts')).body
      const text = `1 mail of the last day could not be sent at all. The last attempt: The mail server answered ${behaviour.code}.`
      expect(alerts).toContainEqual({ id: 'mail', about: 'mail', text })
    },
  )

  test('refuses the password is tried again: the operator can mend SMTP_URL', async () => {
    const server = await mailServer({ code: 535, at: 'login' }, { login: true })
    const mails = await mailsTo({ url: server.url.replace('//', '//user:wrong@') })
    const { db } = await testDatabase()
    await mails.queue(db, invitation())
    await mails.sendDue()
    expect(await queued()).toMatchObject([
      { isGivenUp: false, result: expect.stringContaining('password of SMTP_URL') as string },
    ])
    expect((await queued())[0]!.result).not.toContain('wrong')
  })

  test('security: has no encryption gets no password, unless it is on this machine', async () => {
    const server = await mailServer('take', { login: true })
    const mails = await mailsTo({ url: `smtp://user:secret@0.0.0.0:${server.port}` })
    const { db } = await testDatabase()
    await mails.queue(db, invitation())
    await mails.sendDue()
    expect(server.mails).toEqual([])
    expect(await queued()).toMatchObject([{ isSent: false, result: expect.stringMatching(/encrypted|handed over/) as string }])
  })

  test('cannot be reached does not stop the queue: a mail waits longer each time, and is given up after a day', async () => {
    const lines: string[] = []
    const server = await mailServer()
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const mails = await mailsTo({ url: 'smtp://127.0.0.1:9', log }) // the discard service: nothing answers there
    const { db } = await testDatabase()
    await mails.queue(db, invitation())
    const waits: number[] = []
    for (let n = 0; n < 7; n += 1) {
      await makeDue()
      await mails.sendDue()
      waits.push((await queued())[0]!.waitSeconds!)
    }
    const [least, most] = [0.85, 1.15]
    for (const [n, seconds] of [10, 60, 300, 900, 3600, 7200, 7200].entries()) {
      expect(waits[n]).toBeGreaterThan(seconds * least)
      expect(waits[n]).toBeLessThan(seconds * most)
    }
    await sql`update mails set give_up_at = now() + interval '1 hour', next_at = now()`.execute(db)
    await mails.sendDue()
    expect(await queued()).toMatchObject([{ content: null, isGivenUp: true, attempts: 8 }])
    expect(lines.at(-1)).toContain('mail-given-up')
    expect(server.mails).toEqual([])
  })
})

test('a mail that nobody tried before its time was over is given up by the sweep; old ones are deleted', async () => {
  const mails = await mailsTo({ url: 'smtp://127.0.0.1:9' })
  const { db } = await testDatabase()
  await mails.queue(db, invitation())
  await mails.sweep()
  expect(await queued()).toMatchObject([{ isGivenUp: false }])
  await sql`update mails set give_up_at = now()`.execute(db)
  await mails.sendDue()
  await mails.sweep()
  expect(await queued()).toMatchObject([{ content: null, isGivenUp: true, attempts: 0, result: 'It was never tried' }])
  await sql`update mails set created_at = now() - interval '8 days'`.execute(db)
  await mails.sweep()
  expect(await queued()).toEqual([])
})

test('a mail that was encrypted with another SECRET_KEY is given up with the reason', async () => {
  const server = await mailServer()
  const { db } = await testDatabase()
  await (await mailsTo({ url: server.url, key: 'earlier key' })).queue(db, invitation())
  await (await mailsTo(server)).sendDue()
  expect(await queued()).toMatchObject([{ isGivenUp: true, result: expect.stringContaining('SECRET_KEY') as string }])
})

test('a server that stops ends its attempts at once; the mail stays in the queue', async () => {
  const server = await mailServer('hang')
  const mails = await mailsTo(server)
  const { db } = await testDatabase()
  await mails.queue(db, invitation())
  const sending = mails.sendDue()
  await waitFor('a connection', () => server.connections > 0)
  mails.stop()
  await sending
  expect(await queued()).toMatchObject([
    { isSent: false, isGivenUp: false, result: expect.stringContaining('stopped') as string },
  ])
})

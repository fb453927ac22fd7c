/** Backups that an admin starts in the console, on a server that is killed or whose disk gets full (security.md, Crash). */
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { BackupRun, BackupState } from '@arcade/contract/backups/calls'
import pg from 'pg'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { preparedDataDir, waitFor } from '#test/processes.ts'
import { fillUntil, smallDisk } from '#test/small-disk.ts'
import { expectGoodEnd, processesOf, signInAdmin, startServer } from './console-process.ts'

const MB = 1024 * 1024
/** The free space below which a backup stops, on a disk of 300 MB. */
const RESERVE_BYTES = 37.5 * MB
/** Timeout of waits, in ms: far longer than anything takes here on a busy machine. */
const PATIENCE_MS = 300_000
const TIMEOUT_MS = 20 * 60_000

/** An admin who is signed in. A server that answers 503 is busy, so the request is repeated, as the web app does it. */
async function adminOf(url: string) {
  const cookie = await signInAdmin(url)
  const call = (method: string, at: string) =>
    waitFor(
      `an answer to ${method} ${at}`,
      async () => {
        const answer = await fetch(url + at, { method, headers: { cookie, origin: url } })
        return answer.status === 503 ? undefined : answer
      },
      PATIENCE_MS,
    )
  const newest = async () => {
    const answer = await call('GET', '/api/backups')
    expect(answer.status).toBe(200)
    return ((await answer.json()) as BackupState).backups[0]
  }
  return {
    start: () => call('POST', '/api/backups'),
    verify: (id: string) => call('POST', `/api/backups/${id}/verify`),
    ended: () =>
      waitFor<BackupRun | undefined>(
        'the end of the backup',
        async () => {
          const run = await newest()
          return run?.underWay === null ? run : undefined
        },
        PATIENCE_MS,
      ),
  }
}

/** A connection to the embedded database that a server keeps running. */
async function connectTo(dataDir: string): Promise<pg.Client> {
  const client = new pg.Client(await embeddedCluster({ dataDir, log: pino({ level: 'silent' }) }).find())
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch((): string[] => [])

test(
  'security: kill -9 amid a backup of the console: it is shown as broken off and cleared away, and the next one is clean',
  { timeout: TIMEOUT_MS },
  async () => {
    const dataDir = await preparedDataDir()
    const folder = path.join(dataDir, 'backups')
    const killed = startServer(dataDir)
    const before = await adminOf(await killed.ready)
    const holder = await connectTo(dataDir)
    await holder.query('begin; lock table telegram_users in access exclusive mode')
    expect((await before.start()).status).toBe(200)
    await waitFor(
      'the first table',
      async () => {
        const [name] = await namesIn(folder)
        return name !== undefined && (await namesIn(path.join(folder, name, 'tables'))).length > 0
      },
      PATIENCE_MS,
    )
    killed.child.kill('SIGKILL')
    await killed.ended
    await holder.query('rollback')

    const server = startServer(dataDir)
    const admin = await adminOf(await server.ready)
    expect(await admin.ended()).toMatchObject({
      error: 'The server that made it ended meanwhile.',
      finishedAt: null,
      canBeVerified: false,
    })
    await waitFor('an empty folder', async () => (await namesIn(folder)).length === 0, PATIENCE_MS)
    await waitFor('the turn', async () => (await admin.start()).status === 200, PATIENCE_MS)
    const { id, error, place } = await admin.ended()
    expect(error).toBeNull()
    expect((await namesIn(place)).toSorted()).toEqual(['manifest.json', 'tables'])

    await waitFor('the turn', async () => (await admin.verify(id)).status === 200, PATIENCE_MS)
    await waitFor(
      'the trial',
      async () => (await namesIn(path.join(dataDir, 'backup-trial/postgres'))).includes('postmaster.pid'),
      PATIENCE_MS,
    )
    server.child.kill('SIGKILL')
    await server.ended
    const last = startServer(dataDir)
    const again = await adminOf(await last.ready)
    expect(await again.ended()).toMatchObject({
      id,
      error: null,
      verifiedAt: null,
      verifyError: 'The server that verified it ended meanwhile.',
    })
    await waitFor('the end of the trial', async () => !(await namesIn(dataDir)).includes('backup-trial'), PATIENCE_MS)
    await waitFor('the turn', async () => (await again.verify(id)).status === 200, PATIENCE_MS)
    const verified = await again.ended()
    expect(verified).toMatchObject({ error: null, verifyError: null })
    expect(verified.verifiedAt).not.toBeNull()
    await expectGoodEnd(last)
    await waitFor('nothing to run any more', async () => (await processesOf(dataDir)).length === 0, PATIENCE_MS)
  },
)

test(
  'security: full disk: a backup of the console stops before the disk is full, says so and leaves nothing behind; a verification does not begin',
  { timeout: TIMEOUT_MS },
  async () => {
    const dataDir = await smallDisk(300)
    const server = startServer(dataDir)
    const admin = await adminOf(await server.ready)
    const client = await connectTo(dataDir)
    await client.query(`insert into idempotency_keys (caller, key_hash, fingerprint, answer)
      select 'a', decode(md5(n::text), 'hex'), '\\x00', (select string_agg(md5(n::text || k), '') from generate_series(1, 300) k)
        from generate_series(1, 3000) n`)
    await fillUntil(dataDir, RESERVE_BYTES + 9 * MB)
    expect((await admin.start()).status).toBe(200)
    const failed = await admin.ended()
    expect(failed.error).toMatch(
      /^The disk of \S+\/backups\/\S+ has too little room left for this backup: free some, or name another place\.$/,
    )
    await waitFor('an empty folder', async () => (await namesIn(path.join(dataDir, 'backups'))).length === 0, PATIENCE_MS)
    await client.query(`insert into counters values ('meanwhile', 1)`)
    await rm(path.join(dataDir, 'ballast'))
    await waitFor('room for changes', async () => (await admin.start()).status === 200, PATIENCE_MS)
    const { id, ...made } = await admin.ended()
    expect(made).toMatchObject({ error: null })

    await fillUntil(dataDir, RESERVE_BYTES + 30 * MB)
    await waitFor('the turn', async () => (await admin.verify(id)).status === 200, PATIENCE_MS)
    const { error, verifyError } = await admin.ended()
    expect([error, verifyError]).toEqual([
      null,
      expect.stringMatching(
        /^The disk of \S+ has too little room to verify this backup: that needs about \d+ MB, and \d+ MB can be used\. Free some\.$/,
      ),
    ])
    expect(await namesIn(dataDir)).not.toContain('backup-trial')
    await expectGoodEnd(server)
  },
)

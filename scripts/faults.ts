/**
 * Faults of the kinds that tests of single features miss: each is one small change of the server's source. scripts/planted-faults.ts
 * plants them one at a time to see whether the harnesses of server/src/harness find them.
 */
export interface Fault {
  name: string
  /** What is wrong with it. */
  what: string
  file: string
  /** Stands in the file exactly once. */
  find: string
  replace: string
  /** The test file that should find it: the name of a harness, and where it has several tests the beginning of a title's rest. */
  harness: string
  test?: string
}

const server = 'server/src'
const tasks = `${server}/features/tasks/tasks.ts`
const announcements = `${server}/features/announcements/announcements.ts`
const users = `${server}/features/users/users.ts`
const http = `${server}/http/http.ts`
const database = `${server}/db/database.ts`

export const faults: readonly Fault[] = [
  {
    name: 'lost-update',
    what: 'A task is saved whatever version the caller had seen',
    file: tasks,
    find: `if (version !== undefined && task.version !== version) throw new Failure('STALE')`,
    replace: '',
    harness: 'model',
  },
  {
    name: 'missing-lock',
    what: 'An announcement is looked at without a lock before it is saved, so two saves of one version succeed',
    file: announcements,
    find: `select(stored).where('id', '=', id).forUpdate()`,
    replace: `select(stored).where('id', '=', id)`,
    harness: 'races',
  },
  {
    name: 'priorities-without-turns',
    what: 'Two who number tasks do not take turns, so each may wait for a priority that the other has claimed',
    file: `${server}/items/priorities.ts`,
    find: 'return takeLock(tx, `${collection}Priorities`)',
    replace: 'return Promise.resolve()',
    harness: 'races',
    test: 'two who number',
  },
  {
    name: 'missing-access-check',
    what: 'Whoever is signed in counts as an admin',
    file: `${server}/http/caller.ts`,
    find: `(access.includes('admin') && caller.user.userType === 'admin')`,
    replace: `access.includes('admin')`,
    harness: 'requests',
  },
  {
    name: 'forgotten-transaction',
    what: 'An act that can be tried is no transaction, so nothing takes a dry run back',
    file: `${server}/db/dry-run.ts`,
    find: `const act = database.transaction(async (tx) => {`,
    replace: `const act = (async (act: (tx: Transaction<Tables>) => Promise<Result>) => act(database.db as Transaction<Tables>))(async (tx) => {`,
    harness: 'model',
  },
  {
    name: 'acknowledged-too-early',
    what: 'A change is acknowledged before it is committed',
    file: database,
    find: `transaction: (work) => withRetries(() => db.transaction().execute(work)),`,
    replace: `transaction: (work) => new Promise((resolve, reject) => {
      const early: typeof work = async (tx) => {
        const answer = await work(tx)
        resolve(answer)
        return answer
      }
      withRetries(() => db.transaction().execute(early)).catch(reject)
    }),`,
    harness: 'races',
  },
  {
    name: 'commit-not-on-disk',
    what: 'A commit is acknowledged before PostgreSQL has written it to the disk',
    file: `${server}/postgres/connections.ts`,
    find: `application_name: 'arcade pool',`,
    replace: `application_name: 'arcade pool', options: '-c synchronous_commit=off',`,
    harness: 'crash',
    test: 'amid mixed writes',
  },
  {
    name: 'key-not-kept',
    what: 'An entry is written without the key of who asked for it',
    file: `${server}/ledger/entry-once.ts`,
    find: 'from paid where ${hash}::bytea is not null`',
    replace: 'from paid where ${hash}::bytea is not null and false`',
    harness: 'crash',
    test: 'amid claims',
  },
  {
    name: 'rounding',
    what: 'Priorities are worked out as floating point numbers',
    file: `${server}/features/tasks/tasks-bulk.ts`,
    find: `(\${first}::numeric + (ord - 1) * \${step}::numeric)::text`,
    replace: `(\${first}::float8 + (ord - 1) * \${step}::float8)::text`,
    harness: 'model',
  },
  {
    name: 'counter-not-updated',
    what: 'A removed user is still counted',
    file: `${server}/features/users/users-bulk.ts`,
    find: `await addToCounter(tx, { counter: { of: 'users', userType }, delta: -affected })`,
    replace: 'void userType, affected',
    harness: 'model',
  },
  {
    name: 'restored-as-it-was',
    what: 'A restored record has the version that it had, so that a save of before its deletion goes through',
    file: `${server}/features/trash/restore.ts`,
    find: `version: 'r.version + 1', ...values`,
    replace: `version: 'r.version', ...values`,
    harness: 'model',
  },
  {
    name: 'file-not-removed',
    what: 'The files of a deleted announcement stay for ever',
    file: `${server}/features/announcements/announcements-bulk.ts`,
    find: `await files.withdraw(tx, removed.flatMap(fileKeys), 'purge')`,
    replace: '',
    harness: 'model',
  },
  {
    name: 'file-removed-after-rollback',
    what: 'Files go outside of the transaction, so also those of announcements that a dry run leaves',
    file: `${server}/files/files.ts`,
    find: `order by key on conflict do nothing\`.execute(
        tx,`,
    replace: `order by key on conflict do nothing\`.execute(
        db,`,
    harness: 'model',
  },
  {
    name: 'wrong-filter',
    what: 'An act on all tasks of a type reaches those of the other collection, too',
    file: `${server}/lists/list.ts`,
    find: `...(within === undefined ? [] : [sql.raw<boolean>(within)]), ...filters`,
    replace: `...filters`,
    harness: 'model',
  },
  {
    name: 'unmapped-constraint',
    what: 'The database refuses a priority that is taken, and nobody knows what that means',
    file: `${server}/http/constraint-codes.ts`,
    find: `tasks_priority_key: 'PRIORITY_TAKEN',`,
    replace: '',
    harness: 'model',
  },
  {
    name: 'session-outlives-role',
    what: 'Sessions outlive a change of role',
    file: users,
    find: `await changeUserType(tx, id, userType)
        await sessions.endAllOf(tx, id)`,
    replace: `await changeUserType(tx, id, userType)`,
    harness: 'model',
  },
  {
    name: 'cache-not-cleared',
    what: 'Who signed out is still in the cache of sessions',
    file: `${server}/identity/sessions.ts`,
    find: `await sql\`select pg_notify(\${CHANNEL}, \${row.user_id})\`.execute(tx)
        if (act) await audit(tx, act, 'session.end', {})
        return row.user_id
      })
      if (userId !== undefined) forget(userId)`,
    replace: `if (act) await audit(tx, act, 'session.end', {})
      })`,
    harness: 'requests',
  },
  {
    name: 'foreign-origin',
    what: 'Another web site can make the one GET call that changes something',
    file: http,
    find: `if ((changesState || meta.isForOwnPages) && !isOpen) refuseForeignOrigin(`,
    replace: `if (route.method !== 'GET' && !isOpen) refuseForeignOrigin(`,
    harness: 'requests',
  },
  {
    name: 'last-admin-race',
    what: 'Two admins who remove each other at once leave none',
    file: `${server}/features/users/users-bulk.ts`,
    find: `await takeLock(tx, 'admins')`,
    replace: '',
    harness: 'model',
  },
  {
    name: 'cursor-off-by-one',
    what: 'A cursor names the first row of the next page instead of the last one of this page, so that row is on no page',
    file: `${server}/lists/cursors.ts`,
    find: `const last = rows.at(-1)`,
    replace: `const last = read.at(-1)`,
    harness: 'model',
  },
  {
    name: 'formula-guard-off',
    what: 'A formula after a line break is not guarded',
    file: `${server}/sheets/cell-text.ts`,
    find: `(?<=([,;\\t\\n|]))`,
    replace: `(?<=([,;\\t|]))`,
    harness: 'formulas',
  },
  {
    name: 'idempotency-by-key-only',
    what: 'An Idempotency-Key that comes with another input gets the first answer',
    file: `${server}/identity/idempotency.ts`,
    find: `if (!found.fingerprint.equals(key.fingerprint)) throw new Failure('IDEMPOTENCY_KEY_REUSED')`,
    replace: '',
    harness: 'model',
  },
  {
    name: 'ready-without-database',
    what: 'A server whose database is away says that it is ready',
    file: 'server/src/http/readiness.ts',
    find: `(await database.isReady()) && `,
    replace: '',
    harness: 'faults',
    test: 'a database that is slow',
  },
]

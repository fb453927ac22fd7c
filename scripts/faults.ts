/**
 * Faults that tests of single features miss. Each is one small change of the server's source; scripts/planted-faults.ts makes these
 * changes one at a time to see whether the fault tests (server/test/faults) find them.
 */
export interface Fault {
  name: string
  /** What is wrong with the changed server, as one sentence without its full stop. */
  what: string
  file: string
  /** The text to replace, which must occur exactly once in the file. */
  find: string
  replace: string
  /** The test file in server/test/faults that should find the fault, without its ending. */
  testFile: string
  /** A part of the title of the test that should find it, if the file has several tests. */
  testTitle?: string
}

const server = 'server/src'
const tasks = `${server}/features/tasks/tasks.ts`
const announcements = `${server}/features/announcements/announcements.ts`
const users = `${server}/features/users/users.ts`
const database = `${server}/db/database.ts`

export const faults: readonly Fault[] = [
  {
    name: 'lost-update',
    what: 'A task is saved even if the caller had seen an older version',
    file: tasks,
    find: `if (version !== undefined && task.version !== version) throw new Failure('STALE')`,
    replace: '',
    testFile: 'model',
  },
  {
    name: 'missing-lock',
    what: 'An announcement is read without a lock before it is saved, so two saves based on one version both succeed',
    file: announcements,
    find: `select(stored).where('id', '=', id).forUpdate()`,
    replace: `select(stored).where('id', '=', id)`,
    testFile: 'races',
  },
  {
    name: 'priorities-without-lock',
    what: 'Two admins who renumber tasks take no lock, so each may wait for a priority that the other has claimed',
    file: `${server}/items/priorities.ts`,
    find: 'return takeLock(tx, `${collection}Priorities`)',
    replace: 'return Promise.resolve()',
    testFile: 'races',
    testTitle: 'two admins who renumber',
  },
  {
    name: 'start-not-noted',
    what: 'An announcement that has started keeps the mark of a start to come, so it starts again',
    file: `${server}/items/schedule.ts`,
    find: 'update announcements set ${sql.ref(pending)} = false, status = ${isShown}',
    replace: 'update announcements set status = ${isShown}',
    testFile: 'schedule',
  },
  {
    name: 'missing-access-check',
    what: 'Every user who is signed in counts as an admin',
    file: `${server}/http/caller.ts`,
    find: `(access.includes('admin') && caller.user.userType === 'admin')`,
    replace: `access.includes('admin')`,
    testFile: 'requests',
  },
  {
    name: 'forgotten-transaction',
    what: 'An act on many rows has no transaction, so a dry run is not rolled back',
    file: `${server}/db/dry-run.ts`,
    find: `const act = database.transaction(async (tx) => {`,
    replace: `const act = (async (act: (tx: Transaction<Tables>) => Promise<Result>) => act(database.db as Transaction<Tables>))(async (tx) => {`,
    testFile: 'model',
  },
  {
    name: 'acknowledged-too-early',
    what: 'A change is acknowledged before it is committed',
    file: database,
    find: `transaction: (work) => withRetries(() => db.transaction().execute(async (tx) => runCommitCheck(tx, await work(tx)))),`,
    replace: `transaction: (work) => new Promise((resolve, reject) => {
      const early: typeof work = async (tx) => {
        const answer = await work(tx)
        resolve(answer)
        return answer
      }
      withRetries(() => db.transaction().execute(early)).catch(reject)
    }),`,
    testFile: 'races',
  },
  {
    name: 'commit-not-on-disk',
    what: 'A commit is acknowledged before PostgreSQL has written it to the disk',
    file: `${server}/postgres/connections.ts`,
    find: `application_name: 'arcade pool',`,
    replace: `application_name: 'arcade pool', options: '-c synchronous_commit=off',`,
    testFile: 'crash',
    testTitle: 'during mixed writes',
  },
  {
    name: 'key-not-kept',
    what: 'A ledger entry is written without the idempotency key of its caller',
    file: `${server}/ledger/entry-once.ts`,
    find: 'from paid where ${hash}::bytea is not null`',
    replace: 'from paid where ${hash}::bytea is not null and false`',
    testFile: 'crash',
    testTitle: 'during claims',
  },
  {
    name: 'rounding',
    what: 'Priorities are computed as floating point numbers',
    file: `${server}/features/tasks/tasks-bulk.ts`,
    find: `(\${first}::numeric + (ord - 1) * \${step}::numeric)::text`,
    replace: `(\${first}::float8 + (ord - 1) * \${step}::float8)::text`,
    testFile: 'model',
  },
  {
    name: 'counter-not-updated',
    what: 'A removed user is still counted',
    file: `${server}/features/users/users-bulk.ts`,
    find: `await addToCounter(tx, { counter: { of: 'users', userType }, delta: -affected })`,
    replace: 'void userType, affected',
    testFile: 'model',
  },
  {
    name: 'restored-as-it-was',
    what: 'A restored record keeps its old version, so a save based on the record before its deletion succeeds',
    file: `${server}/features/trash/restore.ts`,
    find: `version: 'r.version + 1', ...values`,
    replace: `version: 'r.version', ...values`,
    testFile: 'model',
  },
  {
    name: 'file-not-removed',
    what: 'The files of a deleted announcement stay for ever',
    file: `${server}/features/announcements/announcements-bulk.ts`,
    find: `await files.withdraw(tx, removed.flatMap(fileKeys), 'purge')`,
    replace: '',
    testFile: 'model',
  },
  {
    name: 'file-removed-after-rollback',
    what: 'Files are removed outside the transaction, so a dry run removes them, too',
    file: `${server}/files/files.ts`,
    find: `order by key collate "C" on conflict do nothing\`.execute(
      tx,`,
    replace: `order by key collate "C" on conflict do nothing\`.execute(
      this.#database.db,`,
    testFile: 'model',
  },
  {
    name: 'wrong-filter',
    what: 'An act on all tasks of a type also reaches those of the other collection',
    file: `${server}/lists/where.ts`,
    find: `const withinList = baseCondition === undefined ? [] : [sql.raw<boolean>(baseCondition)]`,
    replace: `const withinList: Condition[] = []`,
    testFile: 'model',
  },
  {
    name: 'unmapped-constraint',
    what: "The database's error for a priority that is taken has no error code",
    file: `${server}/http/constraint-codes.ts`,
    find: `tasks_priority_key: 'PRIORITY_TAKEN',`,
    replace: '',
    testFile: 'model',
  },
  {
    name: 'session-outlives-role',
    what: 'Sessions outlive a change of role',
    file: users,
    find: `await changeRole(tx, { id, from, to })
      await sessions.endAllOf(tx, id)`,
    replace: `await changeRole(tx, { id, from, to })`,
    testFile: 'model',
  },
  {
    name: 'rights-at-the-beginning',
    what: 'An act commits although its person has lost the right to it while it waited',
    file: `${server}/db/before-commit.ts`,
    find: 'await checks.getStore()?.(tx)',
    replace: 'void tx',
    testFile: 'rights-taken',
  },
  {
    name: 'cache-not-cleared',
    what: 'The session of a user who signed out stays in the cache',
    file: `${server}/identity/sessions.ts`,
    find: `await notifyAndWaitForActs(tx, row.user_id)
      if (act) await audit(tx, act, 'session.end', {})
      return row.user_id
    })
    if (userId !== undefined) this.forgetUser(userId)`,
    replace: `if (act) await audit(tx, act, 'session.end', {})
    })`,
    testFile: 'requests',
  },
  {
    name: 'foreign-origin',
    what: 'Another web site can make the one GET call that changes something',
    file: `${server}/http/call-pipeline.ts`,
    find: `if ((changesState || meta.isForOwnPages) && !allowsCrossSite) refuseForeignOrigin(`,
    replace: `if (route.method !== 'GET' && !allowsCrossSite) refuseForeignOrigin(`,
    testFile: 'requests',
  },
  {
    name: 'last-admin-race',
    what: 'Two admins who remove each other at once leave none',
    file: `${server}/identity/roles.ts`,
    find: `await takeLock(tx, 'admins')`,
    replace: '',
    testFile: 'model',
  },
  {
    name: 'cursor-off-by-one',
    what: 'A cursor names the first row of the next page instead of the last row of this page, so that row is on no page',
    file: `${server}/lists/cursors.ts`,
    find: `const last = rows.at(-1)`,
    replace: `const last = read.at(-1)`,
    testFile: 'model',
  },
  {
    name: 'formula-guard-off',
    what: 'A formula after a line break is not guarded',
    file: `${server}/sheets/cell-text.ts`,
    find: `(?<=([,;\\t\\n|]))`,
    replace: `(?<=([,;\\t|]))`,
    testFile: 'formulas',
  },
  {
    name: 'idempotency-by-key-only',
    what: 'An Idempotency-Key that is sent again with another input gets the first answer',
    file: `${server}/identity/idempotency.ts`,
    find: `if (!found.fingerprint.equals(key.fingerprint)) throw new Failure('IDEMPOTENCY_KEY_REUSED')`,
    replace: '',
    testFile: 'model',
  },
  {
    name: 'ready-without-database',
    what: 'A server that cannot reach its database says that it is ready',
    file: 'server/src/http/readiness.ts',
    find: `(await database.isReady()) && `,
    replace: '',
    testFile: 'faults',
    testTitle: 'a database that is slow',
  },
]

/** Every screen of the console, with a text that is visible once it is loaded. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Role } from '@arcade/contract/team/fields'
import { otherAdmin } from './other-admin.ts'
import type { ConsoleServer } from './test.ts'

export interface Screen {
  name: string
  path: (server: ConsoleServer) => Promise<string>
  /** Who opens it. */
  as: 'guest' | 'user' | 'admin' | Role
  /** A text that is visible once the screen is loaded. */
  ready: string
}

const at = (path: string) => async () => path
const firstTask = async (server: ConsoleServer, collection: 'social' | 'daily') =>
  (
    await server.database.db
      .selectFrom('tasks')
      .select('id')
      .where('collection', '=', collection)
      .orderBy('priority')
      .executeTakeFirstOrThrow()
  ).id

async function seasonId({ database: { db } }: ConsoleServer): Promise<string> {
  const { id } = await db
    .selectFrom('announcements')
    .select('id')
    .where('title', '=', 'Season 2 is live')
    .executeTakeFirstOrThrow()
  return id
}

/** Returns the page of the player with the most participations, so that the time line is not empty. */
async function playerPath({ database: { db } }: ConsoleServer): Promise<string> {
  const { user_id: userId } = await db
    .selectFrom('participations')
    .innerJoin('telegram_users', 'telegram_users.user_id', 'participations.user_id')
    .select('participations.user_id')
    .groupBy('participations.user_id')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('participations.user_id')
    .limit(1)
    .executeTakeFirstOrThrow()
  return `/manage-telegram-users/${userId}`
}

/** Gives items of the sample starts and ends around today, in several states. */
async function withDates({ database: { db } }: ConsoleServer): Promise<void> {
  await sql`update announcements set starts_at = date_trunc('hour', now()) + (place * 2 - 9) * interval '1 day',
      ends_at = date_trunc('hour', now()) + (place * 3 - 5) * interval '1 day', start_pending = place > 4 and not status
    from (select id as item, row_number() over (order by created_at, id) as place from announcements) as numbered
    where item = id and place between 2 and 7`.execute(db)
  await sql`update tasks set ends_at = date_trunc('hour', now()) + interval '12 days', paused = priority = 2,
      starts_at = case when priority = 1 then date_trunc('hour', now()) + interval '3 days' end
    where collection = 'daily' and priority <= 2`.execute(db)
}

/** Changes a task and deletes two, so that the audit trail and the trash have rows. */
async function afterSomeWork(server: ConsoleServer): Promise<void> {
  const { call } = await otherAdmin(server, 'Mary Jackson')
  const tasks = await server.database.db
    .selectFrom('tasks')
    .select(['id', 'image as type', 'priority', 'title', 'link'])
    .where('collection', '=', 'social')
    .orderBy('priority')
    .limit(3)
    .execute()
  const [changed, ...deleted] = tasks
  const { id, link, ...task } = changed!
  await call('PUT', `/api/social-tasks/${id}`, { ...task, link: link ?? '', title: `${task.title} today`, reward: 12.5 })
  for (const { id: gone } of deleted) await call('DELETE', `/api/social-tasks/${gone}`)
}

/** Makes a broadcast that is done, with recipients of every outcome, and claims of some. Returns its page. */
async function broadcastPath(server: ConsoleServer): Promise<string> {
  const { db } = server.database
  const path = '/broadcasts/broadcast'
  if (await db.selectFrom('broadcasts').select('id').where('id', '=', 'broadcast').executeTakeFirst()) return path
  const id = await seasonId(server)
  await sql`insert into broadcasts (id, number, announcement_id, title, content, filter, state, hold_back, made_at, started_at, planned_at, done_at)
    values ('broadcast', 1, ${id}, 'Season 2 is live', '{}', '{"has":"wallet","seenDays":30}', 'done', 10,
      now() - interval '5 hours', now() - interval '5 hours', now() - interval '5 hours', now() - interval '4 hours')`.execute(db)
  await sql`insert into broadcast_recipients (user_id, at, broadcast, chunk, outcome)
    select user_id, now() - interval '5 hours', 1, 0, case when n % 10 = 0 then 4 when n % 41 = 0 then 10 when n % 97 = 0 then 3 else 2 end
      from (select user_id, row_number() over (order by user_id) as n from telegram_users) as numbered`.execute(db)
  const counts = sql`(select json_object_agg(outcome, n) from (select outcome, count(*) as n from broadcast_recipients group by outcome) as one)`
  await sql`insert into broadcast_chunks (broadcast, chunk, size, done_at, counts) values (1, 0, 500, now(), ${counts})`.execute(
    db,
  )
  await sql`update broadcasts set counts = ${counts} where id = 'broadcast'`.execute(db)
  return path
}

const LONG_EMAIL = 'maximiliana.featherstonehaugh-cholmondeley@a-long-company-name.example.org'

/** Makes invitations that are good, expired, and not mailed. Returns the link of the first. */
async function invitationLink(server: ConsoleServer): Promise<string> {
  const { id: maker } = await server.addPerson({
    fname: 'Ida',
    lname: 'Inviter',
    email: `${randomUUID()}@gmail.com`,
    userType: 'admin',
  })
  const token = randomUUID()
  const { db } = server.database
  await sql`delete from invitations`.execute(db)
  await sql`insert into invitations (email, role, token_hash, made_by, expires_at) values
    (${LONG_EMAIL}, 'manager', sha256(convert_to(${token}, 'UTF8')), ${maker}, now() + interval '2 days'),
    ('grace@example.org', 'analyst', sha256('\\x02'), ${maker}, now() - interval '1 hour'),
    ('linus@example.org', null, sha256('\\x03'), ${maker}, now() + interval '3 days')`.execute(db)
  await sql`insert into mails (kind, invitation_id, recipient, give_up_at, next_at, given_up_at)
    select 'invitation', id, email, now(), null, now() from invitations where email = 'linus@example.org'`.execute(db)
  return `/invitation?link=${token}`
}

/** Makes a change of an e-mail address that waits. Returns the link that its present address got. */
async function emailChangeLink(server: ConsoleServer): Promise<string> {
  const email = `${randomUUID()}@gmail.com`
  const { id } = await server.addPerson({ fname: 'Eve', lname: 'Mover', email, userType: 'admin' })
  const token = randomUUID()
  await sql`insert into email_changes (user_id, new_email, old_email, new_hash, old_hash, expires_at)
    values (${id}, ${LONG_EMAIL}, ${email}, sha256('\\x01'), sha256(convert_to(${token}, 'UTF8')), now() + interval '1 day')`.execute(
    server.database.db,
  )
  return `/confirm-email?link=${token}`
}

async function withLimits(server: ConsoleServer): Promise<void> {
  const { call } = await otherAdmin(server, 'Lia Limits')
  await call('PUT', '/api/roles/manager', { seesPersonal: false, maxAdjustment: 1000, maxAdjustedDaily: 2500.5, maxBulk: 50 })
}

/** Writes notes on an announcement. Returns its page in History, where they are read. */
async function notedPath(server: ConsoleServer): Promise<string> {
  const id = await seasonId(server)
  const author = await server.addPerson({ fname: 'Nora', lname: 'Notes', email: `${randomUUID()}@gmail.com`, userType: 'admin' })
  await sql`insert into notes (id, kind, record_id, text, author_id) values
    (${randomUUID()}, 'announcement', ${id}, 'The partner wants the picture changed by Friday.', ${author.id}),
    (${randomUUID()}, 'announcement', ${id}, ${'long '.repeat(100)}, ${author.id})`.execute(server.database.db)
  return `/history?item=${id}`
}

export const screens: Screen[] = [
  { name: 'login', path: at('/auth/log-in'), as: 'guest', ready: 'Sign into your account' },
  { name: 'register', path: at('/register'), as: 'guest', ready: 'Create Your New Account' },
  {
    name: 'set-password',
    path: async (server) => {
      const { id } = await server.database.db
        .selectFrom('users')
        .select('id')
        .where('user_type', '=', 'user')
        .executeTakeFirstOrThrow()
      return server.newPasswordLink(id)
    },
    as: 'guest',
    ready: 'Confirm Password',
  },
  { name: 'invitation', path: invitationLink, as: 'guest', ready: 'Your role will be Manager.' },
  { name: 'invitation-ended', path: at('/invitation?link=x'), as: 'guest', ready: 'This invitation is not valid.' },
  { name: 'forgotten-password', path: at('/forgotten-password'), as: 'guest', ready: 'Forgotten Your Password?' },
  { name: 'confirm-email', path: emailChangeLink, as: 'guest', ready: 'Confirm the Change' },
  { name: 'confirm-email-ended', path: at('/confirm-email?link=x'), as: 'guest', ready: 'This link is not valid' },
  { name: 'user-dashboard', path: at('/'), as: 'user', ready: 'User Dashboard' },
  { name: 'dashboard', path: at('/'), as: 'admin', ready: 'Top balances' },
  { name: 'dashboard-analyst', path: at('/'), as: 'analyst', ready: 'Top balances' },
  { name: 'manage-users', path: at('/manage-users'), as: 'admin', ready: 'Page 1 of 1' },
  {
    name: 'manage-users-invitations',
    path: (server) => invitationLink(server).then(at('/manage-users')),
    as: 'admin',
    ready: 'Not sent',
  },
  {
    name: 'update-user',
    path: async (server) => {
      const user = await server.database.db
        .selectFrom('users')
        .selectAll()
        .where('user_type', '=', 'user')
        .executeTakeFirstOrThrow()
      return `/update-user/${[user.id, user.fname, user.lname, user.email].map(encodeURIComponent).join('/')}`
    },
    as: 'admin',
    ready: 'Update User',
  },
  { name: 'add-user', path: at('/add-user'), as: 'admin', ready: 'Confirm Password' },
  {
    name: 'roles',
    path: async (server) => {
      for (const role of ['manager', 'editor', 'editor', 'analyst'] as const)
        await server.addPerson({ fname: 'Mary', lname: role, email: `${randomUUID()}@gmail.com`, userType: 'admin', role })
      return '/roles'
    },
    as: 'admin',
    ready: 'What each role may do',
  },
  { name: 'roles-limits', path: (server) => withLimits(server).then(at('/roles')), as: 'admin', ready: 'Settings of Manager' },
  { name: 'account-manager', path: at('/account'), as: 'manager', ready: 'Owners give roles' },
  { name: 'account', path: at('/account'), as: 'admin', ready: 'This session' },
  { name: 'telegram-users', path: at('/manage-telegram-users'), as: 'admin', ready: 'Page 1 of 241' },
  { name: 'player', path: playerPath, as: 'admin', ready: 'Took part in' },
  { name: 'social-tasks', path: at('/social-tasks'), as: 'admin', ready: 'Follow us on Instagram' },
  { name: 'social-tasks-form', path: at('/social-tasks-form'), as: 'admin', ready: 'Reward' },
  {
    name: 'social-tasks-form-update',
    path: async (server) => `/social-tasks-form-update?id=${await firstTask(server, 'social')}`,
    as: 'admin',
    ready: 'Reward',
  },
  { name: 'daily-tasks', path: at('/daily-tasks'), as: 'admin', ready: 'Spin the wheel' },
  { name: 'daily-tasks-form', path: at('/daily-tasks-form'), as: 'admin', ready: 'Reward' },
  {
    name: 'daily-tasks-form-update',
    path: async (server) => `/daily-tasks-form-update?id=${await firstTask(server, 'daily')}`,
    as: 'admin',
    ready: 'Reward',
  },
  { name: 'announcements', path: at('/annoucements'), as: 'admin', ready: 'Season 2 is live' },
  { name: 'calendar', path: (server) => withDates(server).then(at('/calendar')), as: 'admin', ready: 'Double points weekend' },
  {
    name: 'calendar-week',
    path: (server) => withDates(server).then(at('/calendar?view=week')),
    as: 'admin',
    ready: 'Double points weekend',
  },
  { name: 'announcement-form', path: at('/annoucement-form'), as: 'admin', ready: 'No file chosen' },
  {
    name: 'announcement-form-update',
    path: async (server) => {
      const { id } = await server.database.db
        .selectFrom('announcements')
        .select('id')
        .where('link_type', '=', 'input')
        .executeTakeFirstOrThrow()
      return `/annoucement-form-update?id=${id}`
    },
    as: 'admin',
    ready: 'No file chosen',
  },
  { name: 'audit', path: (server) => afterSomeWork(server).then(at('/audit')), as: 'admin', ready: 'Deleted a task' },
  { name: 'trash', path: (server) => afterSomeWork(server).then(at('/trash')), as: 'admin', ready: 'Mary Jackson' },
  { name: 'backups', path: at('/backups'), as: 'admin', ready: 'Backups' },
  {
    name: 'bot-tokens',
    path: async ({ database }) => {
      await sql`insert into bot_tokens (id, name, scope, token_hash, created_at, last_used_at, rotated_at, previous_hash, previous_used_at) values
        ('a', 'game', 'play', '\\x01', now() - interval '9 days', now(), now() - interval '1 hour', '\\x02', now() - interval '2 hours'),
        ('b', 'season statistics', 'read', '\\x03', now(), null, null, null, null)`.execute(database.db)
      return '/bot-tokens'
    },
    as: 'admin',
    ready: 'season statistics',
  },
  {
    name: 'webhooks',
    path: async ({ database }) => {
      await sql`insert into webhooks (id, url, events, secret, failing_since, switched_off_at, alert) values
        ('a', 'https://bot.example.org/hooks', '{announcement.activated,task.changed}', '\\x01', null, null, null),
        ('b', 'https://old.example.org/hooks', '{task.changed}', '\\x02', now() - interval '25 hours', now(),
         'It has failed for a day, so it was switched off.')`.execute(database.db)
      return '/webhooks'
    },
    as: 'admin',
    ready: 'https://old.example.org/hooks',
  },
  { name: 'broadcasts', path: (server) => broadcastPath(server).then(at('/broadcasts')), as: 'admin', ready: 'Season 2 is live' },
  {
    name: 'broadcasts-new',
    path: async (server) => `/broadcasts/new?seenDays=30&announcement=${await seasonId(server)}`,
    as: 'admin',
    ready: 'Clear filters',
  },
  { name: 'broadcast', path: broadcastPath, as: 'admin', ready: 'With the message' },
  { name: 'history', path: at('/history'), as: 'admin', ready: 'Season 2 is live' },
  {
    name: 'history-item',
    path: async (server) => `/history?item=${await seasonId(server)}`,
    as: 'admin',
    ready: 'Everything you need to know',
  },
  { name: 'history-item-notes', path: notedPath, as: 'admin', ready: 'The partner wants the picture changed' },
  { name: 'fallback', path: at('/no/such/page'), as: 'admin', ready: 'Dashboard' },
]

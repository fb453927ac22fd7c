/** Every screen of the console, with a text that is visible once it is loaded. */
import { sql } from 'kysely'
import { otherAdmin } from './other-admin.ts'
import type { ConsoleServer } from './test.ts'

export interface Screen {
  name: string
  path: (server: ConsoleServer) => Promise<string>
  /** Who opens it. */
  as: 'guest' | 'user' | 'admin'
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
  { name: 'user-dashboard', path: at('/'), as: 'user', ready: 'User Dashboard' },
  { name: 'dashboard', path: at('/'), as: 'admin', ready: 'Top balances' },
  { name: 'manage-users', path: at('/manage-users'), as: 'admin', ready: 'Page 1 of 1' },
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
  { name: 'history', path: at('/history'), as: 'admin', ready: 'Season 2 is live' },
  {
    name: 'history-item',
    path: async (server) => `/history?item=${await seasonId(server)}`,
    as: 'admin',
    ready: 'Everything you need to know',
  },
  { name: 'fallback', path: at('/no/such/page'), as: 'admin', ready: 'Dashboard' },
]

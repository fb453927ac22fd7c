/** Roles: what each one sees and may do, the page that shows and changes it, and a role that changes while a page is open. */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectStateAccessible } from '#src/axe.ts'
import { phone } from '#src/sizes.ts'
import { control, expect, field, test, toast } from '#src/test.ts'

const reading = ['Telegram Users', 'Social Tasks', 'Daily Tasks', 'Announcements', 'Calendar', 'Broadcasts', 'History']
const playerActs = ['Adjust Balance', 'Block or Erase']
const taskActs = ['Add Task', 'Select', 'Saved', 'Edit', 'Delete', 'Duplicate']

/** What each role sees: its places, then the buttons of four pages. */
const sights = {
  owner: {
    main: ['Dashboard', 'Manage Users', ...reading],
    upkeep: ['Roles', 'Audit', 'Trash', 'Bot Tokens', 'Webhooks', 'Backups'],
    tasks: taskActs,
    announcements: ['Add Annoucement', 'Active', 'Update', 'Select'],
    players: ['Download User Data', 'Select'],
    player: playerActs,
    broadcasts: ['New Broadcast'],
    columns: ['Email', 'Discord Username'],
  },
  manager: {
    main: ['Dashboard', 'Manage Users', ...reading],
    upkeep: ['Audit', 'Trash'],
    tasks: taskActs,
    announcements: ['Add Annoucement', 'Active', 'Update', 'Select'],
    players: ['Download User Data', 'Select'],
    player: playerActs,
    broadcasts: ['New Broadcast'],
    columns: ['Email', 'Discord Username'],
  },
  editor: {
    main: ['Dashboard', ...reading],
    upkeep: [],
    tasks: taskActs,
    announcements: ['Add Annoucement', 'Active', 'Update', 'Select'],
    players: ['Download User Data', 'Select'],
    player: [],
    broadcasts: ['New Broadcast'],
    columns: ['Email', 'Discord Username'],
  },
  reviewer: {
    main: ['Dashboard', 'Telegram Users', 'History'],
    upkeep: [],
    players: [],
    player: [],
    columns: ['Email', 'Discord Username'],
  },
  analyst: {
    main: ['Dashboard', ...reading],
    upkeep: [],
    tasks: ['Select', 'Saved'],
    announcements: ['Select'],
    players: ['Download User Data', 'Select'],
    player: [],
    broadcasts: [],
    columns: [],
  },
} as const

const addresses = {
  tasks: '/social-tasks',
  announcements: '/annoucements',
  players: '/manage-telegram-users',
  broadcasts: '/broadcasts',
} as const

/** The buttons of a page that any role sees, of those that this test names. */
async function shownOf(page: Page, names: readonly string[]): Promise<string[]> {
  const shown = await Promise.all(
    names.map(async (name) => ((await control(page.locator('#main'), name).count()) > 0 ? [name] : [])),
  )
  return shown.flat()
}

function linksOf(page: Page, name: string): Promise<string[]> {
  return page.getByRole('navigation', { name, exact: true }).getByRole('link').allInnerTexts()
}

for (const [role, sight] of Object.entries(sights)) {
  test(`§6 the role ${role} sees its places, and of each page what it may do`, async ({ page, signIn }) => {
    await signIn(role as keyof typeof sights)
    await page.goto('/')
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await expect.poll(() => linksOf(page, 'Main')).toEqual(sight.main)
    expect(await linksOf(page, 'Upkeep')).toEqual(sight.upkeep)

    for (const [name, address] of Object.entries(addresses)) {
      const wanted = (sight as Partial<Record<string, readonly string[]>>)[name]
      await page.goto(address)
      if (!wanted) {
        await expect(page).toHaveURL('/')
        continue
      }
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByRole('table').or(page.getByText('has been sent through Telegram')).first()).toBeVisible()
      await expect(page.getByText('Loading...')).toHaveCount(0)
      const all = sights.owner[name as keyof typeof addresses]
      await expect.poll(() => shownOf(page, all)).toEqual(wanted)
    }

    await page.goto('/manage-telegram-users')
    const headers = page.getByRole('columnheader')
    await expect(headers.filter({ hasText: 'Balance' })).toBeVisible()
    expect((await headers.allInnerTexts()).filter((text) => /Email|Discord/.test(text))).toEqual(sight.columns)
    await page.getByRole('table').getByRole('link').first().click()
    await expect(page.getByRole('heading', { name: 'Took part in' })).toBeVisible()
    await expect(page.getByRole('region', { name: 'Identity' })).toContainText('User ID')
    await expect.poll(() => shownOf(page, playerActs)).toEqual(sight.player)
    await expect(page.getByRole('button', { name: /^Reverse/ })).toHaveCount(0)
  })
}

test('§6 a manager sees the name of an owner, and no form to change it', async ({ page, server, signIn }) => {
  await signIn('manager')
  const owner = await server.addPerson({ fname: 'Olga', lname: 'Owner', email: 'olga@gmail.com', userType: 'admin' })
  await page.goto(`/update-user/${owner.id}/Olga/Owner/olga@gmail.com`)
  await expect(page.getByText('Your role may not change a person with the role Owner.')).toBeVisible()
  await expect(page.getByText('Olga Owner')).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await expectStateAccessible(page)
})

test('§6 a manager is offered neither to invite another manager nor to end the password link of an owner', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('manager')
  const [owner, editor] = [
    await server.addPerson({ fname: 'Olga', lname: 'Owner', email: 'olga@gmail.com', userType: 'admin' }),
    await server.addPerson({ fname: 'Ed', lname: 'Editor', email: 'ed@gmail.com', userType: 'admin', role: 'editor' }),
  ]
  for (const { id } of [owner, editor])
    await sql`insert into password_links (user_id, token_hash, made_by, expires_at)
      values (${id}, sha256(${id}::bytea), ${owner.id}, now() + interval '1 day')`.execute(server.database.db)
  await page.goto('/manage-users')
  await expect(page.getByRole('button', { name: 'End Link, Ed Editor' })).toBeVisible()
  await expect(page.getByText('Olga Owner (olga@gmail.com)')).toBeVisible()
  await expect(page.getByRole('button', { name: 'End Link, Olga Owner' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Invite' }).click()
  const role = page.getByRole('dialog').getByLabel('Role')
  await expect(role.getByRole('option', { name: 'Editor' })).toBeAttached()
  await expect(role.getByRole('option', { name: 'Manager' })).toHaveCount(0)
  await expect(role.getByRole('option', { name: 'Owner' })).toHaveCount(0)
})

test('§6 pages that the role may not open lead to the dashboard, and the palette offers none of them', async ({
  page,
  signIn,
}) => {
  await signIn('analyst')
  for (const address of [
    '/roles',
    '/audit',
    '/social-tasks-form',
    '/annoucement-form-update?id=x',
    '/broadcasts/new',
    '/add-user',
  ]) {
    await page.goto(address)
    await expect(page).toHaveURL('/')
  }
  // The address changes before the page is there that hears the keys.
  await expect(page.getByRole('button', { name: 'Search' })).toBeVisible()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog')
  await palette.getByRole('combobox').fill('a')
  await expect(palette.getByRole('option', { name: 'Your Account' })).toBeVisible()
  await expect(palette.getByRole('option', { name: /Add |Audit|New Broadcast|Trash|Roles/ })).toHaveCount(0)
})

test('a name leads people who may not change the item to who took part in it; the calendar only shows', async ({
  page,
  signIn,
  server,
}) => {
  const { id } = await server.database.db
    .updateTable('tasks')
    .set({ ends_at: new Date(Date.now() + 3 * 86_400_000) })
    .where('title', '=', 'Follow us on Instagram')
    .returning('id')
    .executeTakeFirstOrThrow()
  await signIn('analyst')
  await page.goto('/social-tasks')
  await page.getByRole('link', { name: 'Follow us on Instagram', exact: true }).click()
  await expect(page).toHaveURL(`/history?tab=social&item=${id}`)
  await page.goto('/calendar')
  const bar = page.locator('[data-bar]').first()
  await expect(bar).toBeVisible()
  await expect(bar).not.toHaveAccessibleDescription(/picks it up/)
  await bar.click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Social Task')
  await expect(dialog.getByRole('textbox')).toHaveCount(0)
  await expect(dialog.getByRole('button', { name: 'Save Dates' })).toHaveCount(0)
  await expect(dialog.getByRole('link', { name: 'Who took part' })).toBeVisible()
})

test('roles: an owner sees what each role may do, and changes a role’s settings', async ({ page, signIn, server }) => {
  await server.addPerson({ fname: 'Mia', lname: 'Manager', email: 'mia@gmail.com', userType: 'admin', role: 'manager' })
  await signIn('owner')
  await page.goto('/manage-users')
  await control(page, 'What Roles May Do').click()
  await expect(page.getByRole('heading', { name: 'Roles', level: 1 })).toBeVisible()
  const matrix = page.getByRole('table', { name: 'What each role may do' })
  await expect(matrix.getByRole('row').filter({ hasText: 'Adjust balances' })).toHaveText(
    /Adjust balances\s*Owner: yes\s*Manager: yes\s*Editor: no–?\s*Reviewer: no–?\s*Analyst: no–?/,
  )
  await expect(page.getByRole('link', { name: '1 person with the role Manager' })).toBeVisible()

  const manager = page.getByRole('form', { name: 'Settings of Manager' })
  await field(manager, 'Most points in one adjustment').fill('-5')
  await manager.getByRole('button', { name: 'Save settings of Manager' }).click()
  await expect(field(manager, 'Most points in one adjustment')).toHaveAccessibleDescription(/Enter more than 0, or nothing/)
  await field(manager, 'Most points in one adjustment').fill('500')
  await field(manager, 'Most records in one bulk act').fill('20')
  await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  await manager.getByRole('checkbox').uncheck()
  await manager.getByRole('button', { name: 'Save settings of Manager' }).click()
  await expect(toast(page, 'Settings of Manager saved.')).toBeVisible()
  await expect(matrix.getByRole('row').filter({ hasText: 'See personal fields' })).toContainText('Manager: no')
  await expect(field(manager, 'Most points in one adjustment')).toHaveValue('500')
  expect(await server.database.db.selectFrom('role_settings').selectAll().execute()).toMatchObject([
    { role: 'manager', sees_personal: false, max_adjusted_daily: null, max_bulk: 20 },
  ])
})

test('Your Account tells the role, what is withheld from it, and its limits', async ({ page, signIn, server }) => {
  await server.database.db
    .insertInto('role_settings')
    .values({ role: 'manager', sees_personal: false, max_adjustment: 1000, max_adjusted_daily: 2500, max_bulk: 1 })
    .execute()
  await signIn('manager')
  await page.goto('/account')
  const role = page.getByRole('region', { name: 'Role' })
  await expect(role).toContainText('Manager. May do everything but give roles')
  await expect(role.getByRole('list', { name: 'Limits of your role' }).getByRole('listitem')).toHaveText([
    'E-mail addresses, phone numbers, handles and wallets of players are withheld.',
    'At most 1,000 points in one adjustment.',
    'At most 2,500 points adjusted in a day, of which 2,500 are left today (UTC).',
    'At most 1 record in one bulk act.',
  ])
})

test('an invitation to a role that one may not give is shown without buttons', async ({ page, signIn, server }) => {
  const { id: owner } = await server.addPerson({ fname: 'Olga', lname: 'Owner', email: 'olga@gmail.com', userType: 'admin' })
  await sql`insert into invitations (email, role, token_hash, made_by, expires_at) values
    ('above@example.org', 'owner', '\\x01', ${owner}, now() + interval '1 day'),
    ('below@example.org', 'editor', '\\x02', ${owner}, now() + interval '1 day')`.execute(server.database.db)
  await signIn('manager')
  await page.goto('/manage-users')
  await expect(page.getByText('above@example.org')).toBeVisible()
  const buttons = page.getByRole('region', { name: 'Open Invitations' }).getByRole('button')
  await expect(buttons).toHaveText(['Make New Link', 'End Invitation'])
  await page.getByRole('button', { name: 'Make New Link, below@example.org' }).click()
  await expect(page.getByRole('dialog')).toContainText('Copy it and send it yourself.')
  await page.keyboard.press('Enter') // Done
  await expect(page.getByRole('dialog')).toBeHidden()
})

test.describe('on a phone', () => {
  test.use({ viewport: phone, hasTouch: true })

  test('the names of the roles stay above their marks while the page scrolls', async ({ page, signIn }) => {
    await signIn('owner')
    await page.goto('/roles')
    const matrix = page.getByRole('table', { name: 'What each role may do' })
    await matrix.getByText('Manage backups').evaluate((row) => row.scrollIntoView({ block: 'center' }))
    const name = matrix.getByText('Reviewer', { exact: true })
    const header = (await page.getByRole('banner').boundingBox())!
    await expect.poll(async () => (await name.boundingBox())!.y).toBeGreaterThanOrEqual(header.y + header.height)
    await expect(name).toBeInViewport({ ratio: 1 })
  })
})

test.describe('a role that lost something while its page is open', () => {
  test.use({ expectedNoise: { patterns: [/status of 403/] } })

  test('shows what it may still do at once, and says what it may not', async ({ page, signIn, server }) => {
    const { id } = await signIn('editor')
    await page.goto('/social-tasks')
    await expect(control(page, 'Add Task')).toBeVisible()
    // Straight in the database, so that the page does not know and the session stays.
    await server.database.db.updateTable('users').set({ role: 'reviewer' }).where('id', '=', id).execute()
    await sql`select pg_notify('sessions', ${id})`.execute(server.database.db)
    await page.getByRole('row').nth(1).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(toast(page, 'your role lacks the permission “Change tasks”')).toBeVisible()
    await expect.poll(() => linksOf(page, 'Main')).toEqual(sights.reviewer.main)
    await expect(page).toHaveURL('/')
  })
})

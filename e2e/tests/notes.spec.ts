/** Notes of the team on a player and on tasks: written, changed, deleted and brought back; mentions on the dashboard; found by the palette. */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { phone } from '#src/sizes.ts'
import { expect, forgetSession, test, toast } from '#src/test.ts'

const PLAYER = 100_008_077
const PATH = `/manage-telegram-users/${PLAYER}`

const notes = (page: Page) => page.getByRole('region', { name: 'Notes', exact: true })
const items = (page: Page) => notes(page).getByRole('listitem')
const newNote = (page: Page) => notes(page).getByRole('textbox', { name: 'New note' })

test('Notes: a note is written with Ctrl-Enter, changed, deleted, and brought back', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto(PATH)
  await expect(notes(page)).toContainText('No notes yet. The team sees what you write here.')
  await newNote(page).fill('Asked for a refund.\nCall on Monday.')
  await page.keyboard.press('Control+Enter')
  await expect(items(page)).toHaveText([/^Ada Admin · .*Asked for a refund\.\s+Call on Monday\./])
  await expect(newNote(page)).toHaveValue('')
  await newNote(page).fill('Second')
  await notes(page).getByRole('button', { name: 'Add note' }).click()
  await expect(items(page)).toHaveText([/Second/, /refund/])
  await expectAccessible(page)

  await items(page).first().getByRole('button', { name: 'Edit' }).click()
  await expect(notes(page).getByRole('textbox', { name: 'Note', exact: true })).toBeFocused()
  await page.keyboard.type(' thoughts')
  await notes(page).getByRole('button', { name: 'Save note' }).click()
  await expect(items(page).first()).toContainText('Second thoughts')
  await expect(items(page).first()).toContainText('changed')

  await items(page).last().getByRole('button', { name: 'Delete' }).click()
  await expect(items(page)).toHaveText([/Second thoughts/])
  await expect(notes(page).getByRole('heading', { name: 'Notes' })).toBeFocused()
  await toast(page, 'Note deleted.').getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, 'The note is back.')).toBeVisible()
  await expect(items(page)).toHaveText([/Second thoughts/, /refund/])
})

test('Notes: a colleague who is mentioned sees it on the dashboard until the note was seen', async ({ page, server, signIn }) => {
  const mia = await server.addPerson({ fname: 'Mia', lname: 'Moon', email: 'mia@gmail.com', userType: 'admin' })
  await signIn('admin')
  await page.goto(PATH)
  await newNote(page).pressSequentially('Please check, @mi')
  const menu = notes(page).getByRole('listbox', { name: 'Colleagues' })
  await expect(menu.getByRole('option')).toHaveText(['Mia Moon'])
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await expect(newNote(page)).toHaveValue('Please check, @Mia Moon ')
  await expect(menu).toBeHidden()
  await page.keyboard.type('today')
  await page.keyboard.press('Control+Enter')
  await expect(items(page).locator('strong', { hasText: '@Mia Moon' })).toBeVisible()

  await forgetSession(page)
  await page.context().addCookies([{ name: 'session', value: mia.token, url: server.url, httpOnly: true, sameSite: 'Strict' }])
  await page.goto('/')
  const mentions = page.getByRole('region', { name: 'Mentions' })
  await expect(mentions.getByRole('listitem')).toContainText('Please check, @Mia Moon today')
  await expect(mentions).toContainText('Ada Admin on Player')
  await expectAccessible(page)
  const seen = page.waitForResponse((answer) => answer.url().endsWith('/api/notes/seen'))
  await mentions.getByRole('link').click()
  await expect(page).toHaveURL(PATH)
  await expect(items(page)).toHaveCount(1)
  await expect(items(page).getByRole('button'), 'an owner may delete the notes of others').toHaveText(['Delete'])
  await seen
  await page.goto('/')
  await expect(page.getByRole('region', { name: 'Total Users', exact: true })).toBeVisible()
  await expect(mentions).toHaveCount(0)
})

test('Notes: the palette finds a note on a task and opens its form, where the note is', async ({ page, server, signIn }) => {
  const { id } = await signIn('admin')
  const { rows } = await sql<{ id: string }>`select id from tasks where collection = 'social' order by priority limit 1`.execute(
    server.database.db,
  )
  await sql`insert into notes (id, kind, record_id, text, author_id) values ('n', 'socialTask', ${rows[0]!.id}, 'The link is a Zebra trap', ${id})`.execute(
    server.database.db,
  )
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Search pages/ }).fill('zebra')
  const found = page.getByRole('group', { name: 'Notes' }).getByRole('option')
  await expect(found).toHaveText([/The link is a Zebra trap.*Social Task · /])
  await found.click()
  await expect(page.getByRole('heading', { name: 'Update Social Task' })).toBeVisible()
  await expect(items(page)).toHaveText([/The link is a Zebra trap/])
})

test('Notes: who may only read an announcement finds its notes in History, where a mention leads', async ({
  page,
  server,
  signIn,
}) => {
  const { id: author } = await server.addPerson({ fname: 'Mia', lname: 'Moon', email: 'mia@gmail.com', userType: 'admin' })
  const { id: reader } = await signIn('analyst')
  const { db } = server.database
  await sql`insert into notes (id, kind, record_id, text, author_id)
    select 'n', 'announcement', id, 'A new picture, @Ada Admin', ${author} from announcements where title = 'Season 2 is live'`.execute(
    db,
  )
  await sql`insert into note_mentions (note_id, user_id, name) values ('n', ${reader}, 'Ada Admin')`.execute(db)
  await page.goto('/')
  const seen = page.waitForResponse((answer) => answer.url().endsWith('/api/notes/seen'))
  await page.getByRole('region', { name: 'Mentions' }).getByRole('link').click()
  await expect(page).toHaveURL(/\/history\?item=/)
  await expect(items(page)).toHaveText([/Mia Moon · .*A new picture, @Ada Admin/])
  await expect(notes(page).getByRole('button')).toHaveCount(0)
  await expect(newNote(page)).toHaveCount(0)
  await expectAccessible(page)
  await seen
  await page.getByRole('link', { name: 'AMA on Friday' }).click()
  await expect(page.getByRole('heading', { name: 'AMA on Friday' })).toBeVisible()
  await expect(page.getByRole('table', { name: 'Participants' })).toBeVisible()
  await expect(notes(page), 'nothing is shown where there are no notes').toHaveCount(0)
})

test.describe('on a phone', () => {
  test.use({ viewport: phone, hasTouch: true })

  test('Notes: a long word wraps, and the page does not scroll sideways', async ({ page, server, signIn }) => {
    const { id } = await signIn('admin')
    await sql`insert into notes (id, kind, record_id, text, author_id) values ('n', 'player', ${PLAYER}::text, ${'x'.repeat(300)}, ${id})`.execute(
      server.database.db,
    )
    await page.goto(PATH)
    await expect(items(page)).toHaveCount(1)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(phone.width)
    await expectAccessible(page)
  })
})

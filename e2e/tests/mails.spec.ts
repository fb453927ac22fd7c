/** Invitations, forgotten passwords and changes of e-mail, with a real SMTP server. */
import type { Page } from '@playwright/test'
import { startConsoleServer } from '../../server/test/console-server.ts'
import { linkIn, type MailServer, type ReceivedMail, startMailServer } from '../../server/test/mail-server.ts'
import { expectAccessible } from '#src/axe.ts'
import { expect, field, forgetSession, PASSWORD, test as base, toast, type WorkerFixtures } from '#src/test.ts'

/** Each worker's console has a mail server. */
const test = base.extend<object, Pick<WorkerFixtures, 'server'> & { mailServer: MailServer }>({
  mailServer: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures' names from the pattern
    async ({}, use) => {
      const mailServer = await startMailServer()
      await use(mailServer)
      await mailServer.stop()
    },
    { scope: 'worker' },
  ],
  server: [
    async ({ sampleDirectory, mailServer }, use) => {
      const server = await startConsoleServer({ SMTP_URL: mailServer.url }, { sample: sampleDirectory })
      await use(server)
      await server.stop()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})

test.use({ sample: false })

// An earlier test's mail to the same person has the same subject, and a link that is no longer valid.
test.beforeEach(({ mailServer }) => {
  mailServer.mails.length = 0
})

const choose = (page: Page, role: string) => page.getByRole('dialog').getByLabel('Role').selectOption(role)

/** Waits for a mail of this subject to an address, and returns it. */
async function mailTo({ mails }: MailServer, address: string, subject: string): Promise<ReceivedMail> {
  const find = () => mails.findLast(({ to, headers }) => to.includes(address) && headers['subject'] === subject)
  await expect.poll(find, { timeout: 30_000 }).toBeDefined()
  return find()!
}

async function logIn(page: Page, email: string, password: string): Promise<void> {
  await field(page, 'Email').fill(email)
  await field(page, 'Password').fill(password)
  await page.keyboard.press('Enter')
}

test('an invitation is made, mailed and accepted, and gives its role', async ({ page, signIn, mailServer }) => {
  await signIn('admin')
  await page.goto('/manage-users')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('dialog').getByLabel('Email').fill('grace@example.org')
  await choose(page, 'Editor')
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  await expect(toast(page, 'Invitation made.')).toBeVisible()
  const shown = await field(page, 'Invitation of grace@example.org').inputValue()
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('heading', { name: 'Open Invitations' })).toBeVisible()
  await expect(page.getByText('Editor, invited by Ada Admin')).toBeVisible()

  const link = linkIn(await mailTo(mailServer, 'grace@example.org', 'You are invited to the Arcade Console'))
  expect(shown).toContain(`/invitation?link=${link}`)
  await forgetSession(page)
  await page.goto(`/invitation?link=${link}`)
  await expect(page.getByText('For grace@example.org. Your role will be Editor.')).toBeVisible()
  await expectAccessible(page)
  await field(page, 'First Name').fill('Grace')
  await field(page, 'Last Name').fill('Hopper')
  await field(page, 'Password').fill('a new secret')
  await field(page, 'Confirm Password').fill('a new secret')
  await page.getByRole('button', { name: 'Create Account' }).click()
  await expect(toast(page, 'Account Created Successfully!')).toBeVisible()
  await expect(page).toHaveURL('/admin')
  await expect(page.getByText('Grace Hopper')).toBeVisible()

  await page.goto(`/invitation?link=${link}`)
  await expect(page.getByText('This invitation was used already')).toBeVisible()
  await expect(page.getByText('You are signed in as grace@example.org')).toBeVisible()
})

test('an open invitation is sent again, which ends the earlier link, and ended', async ({ page, signIn, mailServer }) => {
  await signIn('admin')
  await page.goto('/manage-users')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('dialog').getByLabel('Email').fill('eve@example.org')
  await choose(page, 'Analyst')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  const first = linkIn(await mailTo(mailServer, 'eve@example.org', 'You are invited to the Arcade Console'))
  await page.getByRole('button', { name: 'Send Again, eve@example.org' }).click()
  await expect(toast(page, 'Invitation sent again.')).toBeVisible()
  const second = (await field(page, 'Invitation of eve@example.org').inputValue()).split('link=')[1]
  expect(second).not.toBe(first)
  await expect(page.getByRole('dialog')).toContainText('The earlier link has ended.')
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'End Invitation, eve@example.org' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End invitation' }).click()
  await expect(toast(page, 'Invitation ended.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Open Invitations' })).toBeHidden()
  await forgetSession(page)
  for (const link of [first, second]) {
    await page.goto(`/invitation?link=${link}`)
    await expect(page.getByText('This invitation is not valid.')).toBeVisible()
  }
})

test('a forgotten password is set by a link in a mail', async ({ page, server, mailServer }) => {
  await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
  await page.goto('/auth/log-in')
  await page.getByRole('link', { name: 'Forgotten your password?' }).click()
  await expect(page.getByRole('heading', { name: 'Forgotten Your Password?' })).toBeVisible()
  await expectAccessible(page)
  await field(page, 'Email').fill('ada@gmail.com')
  await page.getByRole('button', { name: 'Send the Link' }).click()
  await expect(page.getByText('If there is an account of ada@gmail.com, a mail')).toBeVisible()
  const link = linkIn(await mailTo(mailServer, 'ada@gmail.com', 'Set a new password'))
  await page.goto(`/set-password?link=${link}`)
  await expect(page.getByText('For ada@gmail.com')).toBeVisible()
  await field(page, 'New Password').fill('another secret')
  await field(page, 'Confirm Password').fill('another secret')
  await page.getByRole('button', { name: 'Set Password' }).click()
  await expect(toast(page, 'Password set. Sign in with it.')).toBeVisible()
  await logIn(page, 'ada@gmail.com', 'another secret')
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await page.goto(`/set-password?link=${link}`)
  await expect(page.getByText('Ask for another one on the login page.')).toBeVisible()
})

test('a change of e-mail waits until both addresses have confirmed it', async ({ page, signIn, mailServer }) => {
  await signIn('admin')
  await page.goto('/account')
  const form = page.getByRole('form', { name: 'Your e-mail' })
  await form.getByLabel('New Email').fill('lovelace@gmail.com')
  await form.getByLabel('Current Password').fill(PASSWORD)
  await form.getByRole('button', { name: 'Change Email' }).click()
  await expect(toast(page, 'Mails sent to both addresses.')).toBeVisible()
  await expect(page.getByText('as soon as the new address and the present address have')).toBeVisible()
  const atNew = linkIn(await mailTo(mailServer, 'lovelace@gmail.com', 'Confirm your new e-mail address'))
  const atPresent = linkIn(await mailTo(mailServer, 'admin@gmail.com', 'Your e-mail address is about to change'))
  await page.goto(`/confirm-email?link=${atNew}`)
  await page.getByRole('button', { name: 'Confirm This Address' }).click()
  await expect(page.getByText('It takes effect when the other address has confirmed it, too.')).toBeVisible()
  await page.goto('/account')
  await expect(page.getByText('as soon as the present address has')).toBeVisible()
  await page.goto(`/confirm-email?link=${atPresent}`)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Confirm the Change' }).click()
  await expect(page.getByText('The address was changed.')).toBeVisible()
  await page.goto('/account')
  await expect(page.getByText('lovelace@gmail.com').first()).toBeVisible()
})

test('the present address cancels a change of e-mail', async ({ page, signIn, server, mailServer }) => {
  await signIn('admin')
  await page.goto('/account')
  const form = page.getByRole('form', { name: 'Your e-mail' })
  await form.getByLabel('New Email').fill('other@gmail.com')
  await form.getByLabel('Current Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(toast(page, 'Mails sent to both addresses.')).toBeVisible()
  const link = linkIn(await mailTo(mailServer, 'admin@gmail.com', 'Your e-mail address is about to change'))
  await forgetSession(page)
  await page.goto(`/confirm-email?link=${link}`)
  await page.getByRole('button', { name: 'Cancel the Change' }).click()
  await expect(page.getByText('The change was cancelled.')).toBeVisible()
  const people = await server.database.db.selectFrom('users').select('email').execute()
  expect(people).toEqual([{ email: 'admin@gmail.com' }])
})

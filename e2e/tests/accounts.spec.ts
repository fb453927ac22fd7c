/** Signed-out area and session (§2, §4, §5, §6, §7, §8). Texts are literal copies from the specification. */
import type { Page, Request } from '@playwright/test'
import { expect, hold, loseConnection, PASSWORD, test, toast } from '#src/test.ts'

async function fill(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value)
}

async function expectLogin(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
}

test.describe('§2 signed-out area', () => {
  for (const path of ['/', '/auth/log-in', '/manage-users', '/no/such/page', '/admin', '/%', '/manage-users/%ff']) {
    test(`§2 ${path} shows the Login screen`, async ({ page }) => {
      await page.goto(path)
      await expectLogin(page)
      await expect(page.getByText('Sign into your account', { exact: true })).toBeVisible()
      await expect(page.getByLabel('Email', { exact: true })).toBeVisible()
      await expect(page.getByLabel('Password', { exact: true })).toBeVisible()
      await expect(page.getByRole('button', { name: 'Sign In', exact: true })).toBeVisible()
      await expect(page.getByRole('link', { name: 'Create an account', exact: true })).toHaveAttribute('href', '/register')
    })
  }

  test('§2 the links between login and registration work, the logo leads to /', async ({ page }) => {
    await page.goto('/register')
    await expect(page.getByRole('heading', { name: 'Create Your New Account' })).toBeVisible()
    await page.getByRole('link', { name: 'Already have an account? Log In' }).click()
    await expectLogin(page)
    await page.getByRole('link', { name: 'Create an account' }).click()
    await expect(page).toHaveURL('/register')
    await page
      .getByRole('link', { name: /arcade console/i })
      .first()
      .click()
    await expect(page).toHaveURL('/')
  })

  test('§2 a loading screen shows while the app is loading', async ({ page }) => {
    const release = await hold(page, '**/assets/login-page-*.js')
    await page.goto('/', { waitUntil: 'commit' })
    const spinner = page.getByRole('status', { name: /loading/i })
    await expect(spinner).toBeVisible()
    release()
    await expectLogin(page)
    await expect(spinner).toBeHidden()
  })

  test('§2 a loading screen shows while the session loads, if the page came without one', async ({ page }) => {
    await page.route('/', async (route) => {
      const response = await route.fetch()
      const html = (await response.text()).replace(/(<script type="application\/json" id="session">)[^<]*/, '$1null')
      await route.fulfill({ response, body: html })
    })
    const release = await hold(page, '**/api/session')
    await page.goto('/')
    const spinner = page.getByRole('status', { name: /loading/i })
    await expect(spinner).toBeVisible()
    release()
    await expectLogin(page)
    await expect(spinner).toBeHidden()
  })
})

test.describe('§4 sign-in', () => {
  test('§4 success goes to /admin; the session survives a reload; Log Out ends it', async ({ page, server }) => {
    await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
    await page.goto('/auth/log-in')
    await fill(page, { Email: 'ada@gmail.com', Password: PASSWORD })
    await page.keyboard.press('Enter')
    await expect(toast(page, 'Logged In Successfuly!')).toBeVisible()
    await expect(page).toHaveURL('/admin')
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await expect(page.getByText('Welcome Back').first()).toBeVisible()
    await expect(page.getByText('Ada Admin').first()).toBeVisible()
    await page.reload()
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    // A request during the sign-out would be refused and logged, so wait until the page has loaded everything.
    await expect(page.getByRole('heading', { name: 'Top balances' })).toBeVisible()
    await expect(page.getByText('Live', { exact: true })).toBeVisible()
    await page.getByRole('button', { name: 'Log Out' }).click()
    await expect(toast(page, 'Logged Out Succesfully!')).toBeVisible()
    await expect(page).toHaveURL('/')
    await expectLogin(page)
    await page.goto('/manage-users')
    await expectLogin(page)
    await expect(page.getByText('Your session has ended.')).toHaveCount(0)
  })

  test('Log Out ends the note to the server that somebody looks at the dashboard, if it is still under way', async ({
    page,
    signIn,
  }) => {
    await signIn('admin')
    const isNote = (request: Request) => request.method() === 'POST' && request.url().endsWith('/api/today/look')
    await page.route('**/api/today/look', () => {}) // is never answered
    const note = page.waitForRequest(isNote)
    const ended = page.waitForEvent('requestfailed', isNote)
    await page.goto('/admin')
    await note
    await expect(page.getByRole('heading', { name: 'Top balances' })).toBeVisible()
    await page.getByRole('button', { name: 'Log Out' }).click()
    await ended
    await expect(toast(page, 'Logged Out Succesfully!')).toBeVisible()
    await expectLogin(page)
  })

  test('a link on another site opens the page that it names, also after a reload', async ({ page, server, signIn }) => {
    await signIn('admin')
    const html = `<a href="${server.url}/manage-users?q=ada">Ada</a>`
    await page.route('http://elsewhere.test/', (route) => route.fulfill({ contentType: 'text/html', body: html }))
    await page.goto('http://elsewhere.test/')
    await page.getByRole('link', { name: 'Ada' }).click()
    await expect(page.getByRole('searchbox')).toHaveValue('ada')
    await page.reload()
    await expect(page.getByRole('searchbox')).toHaveValue('ada')
    await expect(page).toHaveURL('/manage-users?q=ada')
  })

  test('a sign-in at the address of a page leads to that page, or elsewhere for people who may not see it', async ({
    page,
    server,
  }) => {
    await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
    await server.addPerson({ fname: 'Uli', lname: 'User', email: 'uli@gmail.com', userType: 'user' })
    await page.goto('/manage-users?q=uli')
    await fill(page, { Email: 'ada@gmail.com', Password: PASSWORD })
    await page.getByRole('button', { name: 'Sign In' }).click()
    await expect(page.getByRole('searchbox')).toHaveValue('uli')
    await expect(page).toHaveURL('/manage-users?q=uli')
    await page.getByRole('button', { name: 'Log Out' }).click()
    await expectLogin(page)
    await page.goto('/manage-users?q=uli')
    await fill(page, { Email: 'uli@gmail.com', Password: PASSWORD })
    await page.getByRole('button', { name: 'Sign In' }).click()
    await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
    await expect(page).toHaveURL('/')
  })

  test('a sign-in at an address without a page leads to /admin, without showing the fallback page', async ({ page, server }) => {
    await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
    for (const path of ['/no/such/page?q=1', '/%zz']) {
      await page.goto(path)
      await expectLogin(page)
      await page.evaluate(() => {
        new MutationObserver(() => {
          if (document.querySelector('h1')?.textContent === 'Page not found')
            document.documentElement.dataset['fallback'] = 'shown'
        }).observe(document, { childList: true, subtree: true, characterData: true })
      })
      await fill(page, { Email: 'ada@gmail.com', Password: PASSWORD })
      await page.getByRole('button', { name: 'Sign In' }).click()
      await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await expect(page).toHaveURL('/admin')
      await expect(page.locator('html')).not.toHaveAttribute('data-fallback')
      await page.getByRole('button', { name: 'Log Out' }).click()
      await expectLogin(page)
    }
  })

  test('a page that was asked for is not forgotten on the way over Register', async ({ page, server }) => {
    await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
    await page.goto('/manage-users?q=uli')
    await page.getByRole('link', { name: 'Create an account' }).click()
    await expect(page).toHaveURL('/register')
    await page.getByRole('link', { name: 'Already have an account? Log In' }).click()
    await expectLogin(page)
    await expect(page).toHaveURL('/manage-users?q=uli')
    await fill(page, { Email: 'ada@gmail.com', Password: PASSWORD })
    await page.getByRole('button', { name: 'Sign In' }).click()
    await expect(page.getByRole('searchbox')).toHaveValue('uli')
    await expect(page).toHaveURL('/manage-users?q=uli')
  })

  test.describe('§8 failures', () => {
    test.use({ expectedNoise: { patterns: [/status of 401/, /ERR_FAILED|ERR_INTERNET_DISCONNECTED/] } })

    test('§8 a wrong password toasts Invalid Credentials!', async ({ page, server }) => {
      await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
      await page.goto('/')
      await fill(page, { Email: 'ada@gmail.com', Password: 'wrong password' })
      await page.getByRole('button', { name: 'Sign In' }).click()
      await expect(toast(page, 'Invalid Credentials!')).toBeVisible()
      await expectLogin(page)
    })

    test('§8 a server out of reach toasts Internal Server Error!', async ({ page }) => {
      await page.goto('/')
      await expectLogin(page)
      await page.route('**/api/session', (route) => route.abort())
      await fill(page, { Email: 'ada@gmail.com', Password: PASSWORD })
      await page.getByRole('button', { name: 'Sign In' }).click()
      await expect(toast(page, 'Internal Server Error!')).toContainText('The server cannot be reached. Please try again.')
      await expect(page.getByRole('form').getByText('The server cannot be reached. Please try again.')).toBeVisible()
      await expect(page.getByLabel('Password', { exact: true })).toHaveValue(PASSWORD)
    })

    test('§8 a notice says that the browser is offline until the connection is back; the password stays in its field', async ({
      page,
      context,
      server,
    }) => {
      await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
      await page.goto('/')
      await fill(page, { Email: 'ada@gmail.com', Password: PASSWORD })
      await loseConnection(page)
      await page.getByRole('button', { name: 'Sign In' }).click()
      const offline = 'You are offline. Please try again when the connection is back.'
      const notice = page.getByRole('form').getByText(offline)
      await expect(notice).toBeVisible()
      await expect(toast(page, 'Internal Server Error!')).toContainText(offline)
      await context.setOffline(false)
      await expect(notice).toHaveCount(0)
      await page.getByRole('button', { name: 'Sign In' }).click()
      await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await expect(toast(page, 'Internal Server Error!')).toHaveCount(0)
    })

    test('§8 a failing sign-out toasts Logging Out Failed!', async ({ page, signIn }) => {
      await signIn('admin')
      await page.goto('/')
      await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await page.route('**/api/session', (route) => route.abort())
      await page.getByRole('button', { name: 'Log Out' }).click()
      await expect(toast(page, 'Logging Out Failed!')).toBeVisible()
      await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    })
  })

  test('§5 errors show only after a field was touched', async ({ page }) => {
    await page.goto('/')
    await expect(page.getByText('Email is required')).toBeHidden()
    await page.getByLabel('Email', { exact: true }).focus()
    await page.getByLabel('Password', { exact: true }).focus()
    await expect(page.getByText('Email is required')).toBeVisible()
    await expect(page.getByText('Password is required')).toBeHidden()
    await fill(page, { Email: 'nobody', Password: '12345' })
    await page.getByRole('button', { name: 'Sign In' }).click()
    await expect(page.getByText('Invalid email address')).toBeVisible()
    await expect(page.getByText('Password must be at least 6 characters')).toBeVisible()
  })
})

test.describe('§7 registration', () => {
  const valid = {
    'First Name': 'Uma',
    'Last Name': 'User',
    Email: 'uma@gmail.com',
    Password: 'secret1',
    'Confirm Password': 'secret1',
  }

  test('§2 success goes to /admin, which is the User Dashboard alone', async ({ page }) => {
    await page.goto('/register')
    await fill(page, valid)
    await page.getByRole('button', { name: 'Create Account' }).click()
    await expect(toast(page, 'Account Created Successfully!')).toBeVisible()
    await expect(page).toHaveURL('/admin')
    await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
    await expect(page.getByRole('link', { name: 'Manage Users' })).toHaveCount(0)
    await expect(page.getByRole('link', { name: 'Dashboard', exact: true })).toBeVisible()
  })

  test('§5 every rule has its text', async ({ page }) => {
    await page.goto('/register')
    await page.getByRole('button', { name: 'Create Account' }).click()
    for (const label of ['First Name', 'Last Name', 'Email', 'Password', 'Confirm Password']) {
      await expect(page.getByText(`${label} is required`, { exact: true })).toBeVisible()
    }
    await fill(page, { ...valid, Email: 'uma@example.org', Password: '12345', 'Confirm Password': '123456' })
    await page.getByRole('button', { name: 'Create Account' }).click()
    for (const text of ['Email must be a @gmail.com', 'Password must be at least 6 characters', 'Passwords must match']) {
      await expect(page.getByText(text, { exact: true })).toBeVisible()
    }
  })

  test.describe('§8', () => {
    test.use({ expectedNoise: { patterns: [/status of 409/] } })
    test('§8 an address in use toasts Registration Failed', async ({ page, server }) => {
      await server.addPerson({ fname: 'Uma', lname: 'First', email: 'uma@gmail.com', userType: 'user' })
      await page.goto('/register')
      await fill(page, valid)
      await page.getByRole('button', { name: 'Create Account' }).click()
      await expect(toast(page, 'Registration Failed')).toBeVisible()
    })
  })
})

test.describe('§6 roles', () => {
  for (const path of [
    '/manage-users',
    '/add-user',
    '/manage-telegram-users',
    '/social-tasks',
    '/daily-tasks',
    '/annoucements',
    '/history',
  ]) {
    test(`§6 a user at ${path} is redirected to /`, async ({ page, signIn }) => {
      await signIn('user')
      await page.goto(path)
      await expect(page).toHaveURL('/')
      await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
    })
  }

  test.describe('§4', () => {
    test.use({ expectedNoise: { patterns: [/status of 401/] } })
    test('§4 a user whose session has ended gets the Login screen on their next action', async ({ page, context, signIn }) => {
      await signIn('admin')
      await page.goto('/')
      await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await expect(page.getByText('Live', { exact: true })).toBeVisible() // the page makes no more requests by itself
      await context.clearCookies()
      await page.getByRole('link', { name: 'Manage Users' }).click()
      await expectLogin(page)
      const notice = page.getByText('Your session has ended. Sign in again to go on where you were.')
      await expect(notice).toBeVisible()
      await page.reload()
      await expect(notice).toBeVisible()
      await fill(page, { Email: 'admin@gmail.com', Password: PASSWORD })
      await page.getByRole('button', { name: 'Sign In' }).click()
      await expect(page.getByRole('heading', { name: 'Manage Users' })).toBeVisible()
      await expect(page).toHaveURL('/manage-users')
    })

    test('§4 a user who signs in after another user’s session has ended goes to /admin', async ({
      page,
      context,
      server,
      signIn,
    }) => {
      await signIn('admin')
      await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'admin' })
      await page.goto('/social-tasks')
      await expect(page.getByRole('heading', { name: 'Social Tasks' })).toBeVisible() // the tab now knows who is signed in
      await context.clearCookies()
      await page.reload()
      await fill(page, { Email: 'grace@gmail.com', Password: PASSWORD })
      await page.getByRole('button', { name: 'Sign In' }).click()
      await expect(page).toHaveURL('/admin')
      await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    })
  })
})

/** Design §9: the JavaScript of a first load, gzip. Sizes, unlike times, are the same on every machine; times are in bench/. */
import { gzipSync } from 'node:zlib'
import { expect, test } from '#src/test.ts'

for (const { name, isSignedIn, ready, budgetBytes } of [
  { name: 'login page', isSignedIn: false, ready: 'Welcome', budgetBytes: 180_000 },
  { name: 'dashboard', isSignedIn: true, ready: 'Top balances', budgetBytes: 250_000 },
]) {
  test(`design §9: the first load of the ${name} needs at most ${budgetBytes / 1000} kB of JavaScript`, async ({
    page,
    signIn,
  }) => {
    if (isSignedIn) await signIn('admin')
    const scripts: Promise<number>[] = []
    page.on('response', (response) => {
      if (response.headers()['content-type']?.includes('javascript'))
        scripts.push(response.body().then((body) => gzipSync(body, { level: 9 }).length))
    })
    await page.goto('/')
    await expect(page.getByRole('heading', { name: ready })).toBeVisible()
    await page.waitForLoadState('networkidle')
    const sizes = await Promise.all(scripts)
    expect(sizes.length).toBeGreaterThan(3)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgetBytes)
  })
}

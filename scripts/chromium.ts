/** Finds a Chromium for the browser tests, or installs one. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { root, run } from './children.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const SHELL = 'chromium-headless-shell' // Chromium without windows, menus and extensions, which needs a seventh less CPU time
const DOWNLOAD_MS = 10 * 60_000

/**
 * Returns the path of a Chromium that starts. Tries, in this order: CHROMIUM_PATH, the PATH, Playwright's own (downloaded if possible),
 * Debian's package (for root only). The tests take the headless shell where there is one; `isWhole` leaves it out, for measurements.
 * @throws Error if no Chromium is found, or if the one of CHROMIUM_PATH does not start
 */
export async function findChromium({ isWhole = false } = {}): Promise<string> {
  const configured = process.env.CHROMIUM_PATH
  if (configured) {
    if (await starts(configured)) return configured
    throw new Error(`CHROMIUM_PATH is ${configured}, which does not start.`)
  }
  const wanted = isWhole ? names : [SHELL, ...names]
  const installed = await firstThatStarts([...onPath(wanted), playwrightsOwn()])
  if (installed) return installed

  console.error("Getting a Chromium: Playwright's own…")
  const download = await run('playwright', ['install', 'chromium'], {
    env: { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '5000' },
    output: 'capture',
    timeoutMs: DOWNLOAD_MS,
  })
  if (await starts(playwrightsOwn())) return playwrightsOwn()

  let packages = 'not tried: not root, or no apt-get'
  if (process.getuid?.() === 0 && (await run('apt-get', ['--version'], { output: 'capture' })).code === 0) {
    console.error("Getting a Chromium: Debian's package…")
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq'], { env, output: 'capture', timeoutMs: DOWNLOAD_MS })
    for (const name of isWhole ? ['chromium'] : [SHELL, 'chromium']) {
      const install = ['install', '-y', '-qq', '--no-install-recommends', name, 'fonts-liberation']
      packages = (await run('apt-get', install, { env, output: 'capture', timeoutMs: DOWNLOAD_MS })).output
      const debians = await firstThatStarts(onPath(wanted))
      if (debians) return debians
    }
  }
  throw new Error(
    'There is no Chromium for the browser tests. Install one, or set CHROMIUM_PATH.\n' +
      `playwright install chromium: ${lastLines(download.output)}\napt-get install chromium: ${lastLines(packages)}`,
  )
}

async function firstThatStarts(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await starts(path)) return path
  return undefined
}

/** Whether a Chromium starts. Asking for its version also detects missing libraries. */
async function starts(path: string): Promise<boolean> {
  return existsSync(path) && (await run(path, ['--version'], { output: 'capture', timeoutMs: 20_000 })).code === 0
}

function onPath(wanted: readonly string[]): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return wanted.flatMap((name) => folders.map((folder) => join(folder, name)))
}

function playwrightsOwn(): string {
  const { chromium } = createRequire(join(root, 'e2e/package.json'))('@playwright/test') as {
    chromium: { executablePath(): string }
  }
  return chromium.executablePath()
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-5).join('\n  ')
}

/**
 * `npm run demo [-- DIRECTORY]`: the console with the sample as if its newest moment were now, and an admin to sign in as; beside it the
 * reference game with a stand-in for Telegram, which may fail without the console. The data is in a directory of its own, the one that is named, DATA_DIR or data/demo, and never where `npm start` has its data. Another start brings the
 * sample's rows back to what they were, at their new moments, makes a new password, and leaves what was added.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endAll, exitAfterChildren, isEnding, type Outcome, root, run } from './children.ts'

const EMAIL = 'demo@example.org'
/** The name of the reference game's bot token. */
const BOT = 'reference game'
/** In the demo's directory: what has data and not this file is somebody's own. */
const MARK = 'made-by-npm-run-demo'
const AGAIN = `
It was here before: the sample's rows are back as they were, at moments that end now, and the password is new. What was added is still there.`
/** pino's levels below `warn`. */
const QUIET_LINE = /^\{"level":[123]0,/

interface Timestamp {
  _seconds: number
  _nanoseconds: number
}
const isTimestamp = (value: unknown): value is Timestamp => typeof value === 'object' && value !== null && '_seconds' in value
const toMilliseconds = ({ _seconds, _nanoseconds }: Timestamp): number => _seconds * 1000 + _nanoseconds / 1_000_000

/** The files of sample/ by name, every moment later by so much that the newest is `now`. */
export function sampleUntil(now: Date): Record<string, string> {
  const folder = join(root, 'sample')
  const files = Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const moments: number[] = []
  eachTimestamp(files, (timestamp) => void moments.push(toMilliseconds(timestamp)))
  const later = now.getTime() - moments.reduce((newest, moment) => Math.max(newest, moment))
  return eachTimestamp(files, (timestamp) => new Date(toMilliseconds(timestamp) + later).toISOString())
}

/** The files with what `replace` returns for each timestamp in them. */
function eachTimestamp(files: Record<string, string>, replace: (timestamp: Timestamp) => unknown): Record<string, string> {
  const convert = (line: string): string =>
    JSON.stringify(JSON.parse(line, (_name, value: unknown) => (isTimestamp(value) ? replace(value) : value)))
  return Object.fromEntries(
    Object.entries(files).map(([file, content]) => [file, `${content.trimEnd().split('\n').map(convert).join('\n')}\n`]),
  )
}

async function demo(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, 'postgres')) && !existsSync(join(dataDir, MARK))) {
    console.error(`${dataDir} has data that is not the demo's. Name another directory: npm run demo -- DIRECTORY`)
    process.exit(1)
  }
  const isAgain = existsSync(join(dataDir, MARK))
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, MARK), '')
  // Whatever else the environment names (a database, a file store) is somebody's own too.
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: '',
    FILES_URL: '',
    ADMIN_EMAIL: '',
    ADMIN_PASSWORD: '',
    // The stand-in signs with it whoever one plays; nobody else knows it.
    TELEGRAM_BOT_TOKEN: `1:${randomBytes(24).toString('base64url')}`,
  }
  const isQuiet = (line: string): boolean => line.startsWith('Create the first admin') || QUIET_LINE.test(line)
  const { address, ended: server } = await startUntil(/^Arcade Console ready at (\S+)$/, ['sh', 'scripts/run', 'start'], {
    env,
    isQuiet,
  })
  if (address !== undefined) {
    const password = await prepare(env)
    console.log(`
The demo is running: the sample, as if its newest moment were now.${isAgain ? AGAIN : ''}

  Open      ${address}
  Email     ${EMAIL}
  Password  ${password}

Ctrl-C ends it. Its data is in ${dataDir}; remove that to begin anew.`)
    void startGame(address, env)
  }
  const { code } = await server
  await exitAfterChildren(code)
}

/** Starts a program, and tells the address that its line says; undefined for one that ends without. Other lines are shown. */
async function startUntil(
  ready: RegExp,
  [program, ...args]: [string, ...string[]],
  { env, isQuiet = () => false }: { env: Record<string, string>; isQuiet?: (line: string) => boolean },
): Promise<{ address: string | undefined; ended: Promise<Outcome> }> {
  const said = Promise.withResolvers<string>()
  const onLine = (line: string): void => {
    const address = ready.exec(line)?.[1]
    if (address) said.resolve(address)
    else if (!isQuiet(line)) console.log(line)
  }
  const ended = run(program, args, { env, output: { onLine } })
  return { address: await Promise.race([said.promise, ended.then(() => undefined)]), ended }
}

/** The bot and the stand-in, each a process of its own. Whatever happens to them, the console goes on. */
async function startGame(consoleUrl: string, env: Record<string, string>): Promise<void> {
  const failed = (what: string): void => {
    if (!isEnding()) console.error(`\nThe reference game: ${what}. The console goes on without it.`)
  }
  const made = await command(['token', 'create', BOT], { env })
  const { output } = made.code === 0 ? made : await command(['token', 'rotate', BOT], { env })
  const token = /^arcade_\S+$/m.exec(output)?.[0]
  if (token === undefined) return failed(`it has got no bot token (${output.trim()})`)

  const folder = join(root, 'examples/game/src')
  const port = (offset: number): string => (process.env['PORT'] === '0' ? '0' : String(Number(new URL(consoleUrl).port) + offset))
  const common = { ...env, CONSOLE_URL: consoleUrl, CONSOLE_TOKEN: token }
  const standIn = await startUntil(/^The stand-in is ready at (\S+)$/, ['node', join(folder, 'stand-in/main.ts')], {
    env: { ...common, PORT: port(1) },
  })
  if (standIn.address === undefined) return failed('the stand-in for Telegram does not start')
  const bot = await startUntil(/^The game is ready at (\S+)$/, ['node', join(folder, 'main.ts')], {
    env: { ...common, PORT: port(2), TELEGRAM_API_URL: standIn.address, PUBLIC_URL: '', WEBHOOK: '' },
  })
  if (bot.address === undefined) return failed('the bot does not start')
  console.log(`\nPlay a player, beside the console:\n\n  Player    ${standIn.address}\n`)
  void standIn.ended.then(() => failed('the stand-in for Telegram has ended'))
  void bot.ended.then(() => failed('the bot has ended'))
}

/** Loads the sample and makes the admin, beside the running server. @returns the admin's password */
async function prepare(env: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'arcade-demo-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const [file, content] of Object.entries(sampleUntil(new Date()))) writeFileSync(join(folder, file), content)
  await arcade(['import', folder], { env: { ...env, INIT_CWD: folder } })
  const password = randomBytes(9).toString('base64url')
  await arcade(['admin', 'create', EMAIL], { env, input: password })
  return password
}

/** A command of the server's. Rows that an import refuses are told and no failure: somebody took a number that the sample has. */
async function arcade(args: string[], options: { env: Record<string, string>; input?: string }): Promise<void> {
  const { code, output } = await command(args, options)
  if (code !== 0) console.error(output.trimEnd())
  if (code === 0 || code === 2) return
  endAll('SIGTERM')
  await new Promise(() => {}) // endAll ends this process
}

function command(args: string[], options: { env: Record<string, string>; input?: string }): Promise<Outcome> {
  return run('sh', ['scripts/run', 'arcade', ...args], { ...options, output: 'capture' })
}

if (import.meta.main) {
  const [named, ...more] = process.argv.slice(2)
  if (more.length > 0 || named?.startsWith('-')) {
    console.error('Usage: npm run demo [-- DIRECTORY]')
    process.exit(1)
  }
  const directory = named ?? (process.env.DATA_DIR || undefined)
  await demo(directory === undefined ? join(root, 'data/demo') : resolve(process.env.INIT_CWD ?? root, directory))
}

/**
 * `npm run demo [-- DIRECTORY]` starts the console with the sample, moved in time so that it ends now, work that operators and players have
 * done in it, and an admin to sign in as. Beside it run the reference game, a stand-in for Telegram, and players who go on playing; the
 * console goes on if they fail. The data is in DIRECTORY, DATA_DIR or data/demo, but never in a directory with other data. Another start
 * resets the rows of the sample, keeps other rows, and makes a new password.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endAll, exitAfterChildren, isEnding, type Outcome, root, run } from './children.ts'
import { USERS_HOST, workAhead } from './demo-operators.ts'
import { playAhead } from './demo-players.ts'

const EMAIL = `demo@${USERS_HOST}`
/** The name of the reference game's bot token. */
const BOT = 'reference game'
/** Where the console listens without PORT. */
const DEFAULT_PORT = 3000
/** A file that marks the demo's directory. The demo does not touch a directory with data but without this file. */
const MARK = 'made-by-npm-run-demo'
/** What the file says once operators and players have worked ahead, which they do only once. */
const WORKED_AHEAD = 'with work done ahead'
const AGAIN = `
It was here before: the sample's rows are back as they were, at moments that end now, and the password is new. What was added is still there.`
/** A log line of pino with a level below `warn`. */
const QUIET_LINE = /^\{"level":[123]0,/

interface Timestamp {
  _seconds: number
  _nanoseconds: number
}
const isTimestamp = (value: unknown): value is Timestamp => typeof value === 'object' && value !== null && '_seconds' in value
const toMilliseconds = ({ _seconds, _nanoseconds }: Timestamp): number => _seconds * 1000 + _nanoseconds / 1_000_000

/** Returns the content of the files of sample/ by name, with all times moved so that the newest is `now`. */
export function sampleUntil(now: Date): Record<string, string> {
  const folder = join(root, 'sample')
  const files = Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const times: number[] = []
  eachTimestamp(files, (timestamp) => void times.push(toMilliseconds(timestamp)))
  const shift = now.getTime() - times.reduce((newest, time) => Math.max(newest, time))
  return eachTimestamp(files, (timestamp) => new Date(toMilliseconds(timestamp) + shift).toISOString())
}

/** Returns the files with each timestamp replaced by the result of `replace`. */
function eachTimestamp(files: Record<string, string>, replace: (timestamp: Timestamp) => unknown): Record<string, string> {
  const convert = (line: string): string =>
    JSON.stringify(JSON.parse(line, (_name, value: unknown) => (isTimestamp(value) ? replace(value) : value)))
  return Object.fromEntries(
    Object.entries(files).map(([file, content]) => [file, `${content.trimEnd().split('\n').map(convert).join('\n')}\n`]),
  )
}

/** Loads a module of the server. */
async function ofServer<Module>(path: string): Promise<Module> {
  return (await import(new URL(`../server/src/${path}`, import.meta.url).href)) as Module
}

const { variableNames } = await ofServer<{ variableNames: readonly string[] }>('config.ts')
const { makeDataDir } = await ofServer<{ makeDataDir: (dataDir: string) => Promise<void> }>('postgres/data-dir.ts')

/**
 * The settings of the environment that the demo does not use, emptied: they name the database, files, backups and secrets of a real console.
 * The demo listens where the environment says.
 */
const ownSettings = Object.fromEntries(
  variableNames.filter((name) => name !== 'PORT' && name !== 'HOST').map((name) => [name, '']),
)

async function demo(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, 'postgres')) && !existsSync(join(dataDir, MARK))) {
    console.error(`${dataDir} has data that is not the demo's. Name another directory: npm run demo -- DIRECTORY`)
    process.exit(1)
  }
  const mark = join(dataDir, MARK)
  const isAgain = existsSync(mark)
  await makeDataDir(dataDir)
  if (!isAgain) writeFileSync(mark, '')
  const { PORT } = process.env
  const standInPort = await freePort(PORT === '0' ? 0 : Number(PORT || DEFAULT_PORT) + 1)
  const env = {
    ...ownSettings,
    DATA_DIR: dataDir,
    REGISTRATION_EMAIL_HOST: USERS_HOST,
    WEBHOOK_NETWORKS: '127.0.0.1', // for a webhook to a port of this machine where nothing listens
    // The stand-in signs the initData of its players with this token, which nobody else knows.
    TELEGRAM_BOT_TOKEN: `1:${randomBytes(24).toString('base64url')}`,
    TELEGRAM_API_ROOT: `http://127.0.0.1:${standInPort}`, // broadcasts go to the stand-in, never to Telegram
  }
  const isQuiet = (line: string): boolean => line.startsWith('Create the first admin') || QUIET_LINE.test(line)
  const { address, ended: server } = await startUntil(/^Arcade Console ready at (\S+)$/, ['sh', 'scripts/run', 'start'], {
    env,
    isQuiet,
  })
  if (address !== undefined) {
    const password = await prepare(env)
    const token = await botToken(env)
    if (token !== undefined && readFileSync(mark, 'utf8') !== WORKED_AHEAD) {
      await fillWithWork(address, { token, password })
      writeFileSync(mark, WORKED_AHEAD)
    }
    console.log(`
The demo is running: the sample, as if its newest moment were now.${isAgain ? AGAIN : ''}

  Open      ${address}
  Email     ${EMAIL}
  Password  ${password}

Ctrl-C ends it. Its data is in ${dataDir}; remove that to begin anew.`)
    if (token !== undefined) void startGame(address, { token, env, standInPort })
  }
  const { code } = await server
  await exitAfterChildren(code)
}

/** Starts a program, and waits for the line with its address; undefined if it ends before. Other lines are printed. */
async function startUntil(
  readyLine: RegExp,
  [program, ...args]: [string, ...string[]],
  { env, isQuiet = () => false }: { env: Record<string, string>; isQuiet?: (line: string) => boolean },
): Promise<{ address: string | undefined; ended: Promise<Outcome> }> {
  const ready = Promise.withResolvers<string>()
  const onLine = (line: string): void => {
    const address = readyLine.exec(line)?.[1]
    if (address) ready.resolve(address)
    else if (!isQuiet(line)) console.log(line)
  }
  const ended = run(program, args, { env, output: { onLine } })
  return { address: await Promise.race([ready.promise, ended.then(() => undefined)]), ended }
}

/** Returns the wanted port, or another one if that is in use. The console must know it before the stand-in starts. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort(0)
  }
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function reportGameFailure(what: string): void {
  if (!isEnding()) console.error(`\nThe reference game: ${what}. The console goes on without it.`)
}

/** Makes a token for the game, or replaces that of an earlier start. */
async function botToken(env: Record<string, string>): Promise<string | undefined> {
  const made = await command(['token', 'create', BOT], { env })
  const { output } = made.code === 0 ? made : await command(['token', 'rotate', BOT], { env })
  const token = /^arcade_\S+$/m.exec(output)?.[0]
  if (token === undefined) reportGameFailure(`it has got no bot token (${output.trim()})`)
  return token
}

/** Players play and operators work before anybody sees the console. Without that it has less to show, but works. */
async function fillWithWork(address: string, { token, password }: { token: string; password: string }): Promise<void> {
  try {
    await playAhead(address, token)
    await workAhead(address, { email: EMAIL, password })
  } catch (error) {
    if (!isEnding()) console.error(`\nNot all of the demo's work could be done ahead: ${(error as Error).message}`)
  }
}

/** Starts the bot, the stand-in and the players, each in a process of its own. The console goes on if they fail. */
async function startGame(
  consoleUrl: string,
  { token, env, standInPort }: { token: string; env: Record<string, string>; standInPort: number },
): Promise<void> {
  const folder = join(root, 'examples/game/src')
  const botPort = process.env['PORT'] === '0' ? 0 : Number(new URL(consoleUrl).port) + 2
  const common = { ...env, CONSOLE_URL: consoleUrl, CONSOLE_TOKEN: token }
  const players = run('node', ['scripts/demo-players.ts'], { env: common })
  void players.then(() => reportGameFailure('its players have ended'))
  const standIn = await startUntil(/^The stand-in is ready at (\S+)$/, ['node', join(folder, 'stand-in/main.ts')], {
    env: { ...common, PORT: String(standInPort) },
  })
  if (standIn.address === undefined) return reportGameFailure('the stand-in for Telegram does not start')
  const bot = await startUntil(/^The game is ready at (\S+)$/, ['node', join(folder, 'main.ts')], {
    env: { ...common, PORT: String(botPort), TELEGRAM_API_URL: standIn.address, PUBLIC_URL: '', WEBHOOK: '' },
  })
  if (bot.address === undefined) return reportGameFailure('the bot does not start')
  console.log(`\nPlay a player, beside the console:\n\n  Player    ${standIn.address}\n`)
  void standIn.ended.then(() => reportGameFailure('the stand-in for Telegram has ended'))
  void bot.ended.then(() => reportGameFailure('the bot has ended'))
}

/** Loads the sample and creates the admin while the server runs. @returns the admin's password */
async function prepare(env: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'arcade-demo-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const [file, content] of Object.entries(sampleUntil(new Date()))) writeFileSync(join(folder, file), content)
  await arcade(['import', folder], { env: { ...env, INIT_CWD: folder } })
  const password = randomBytes(9).toString('base64url')
  await arcade(['admin', 'create', EMAIL], { env, input: password })
  return password
}

/** Runs a command of the server. If an import refuses rows (code 2), because an added row has the same number, they are only printed. */
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

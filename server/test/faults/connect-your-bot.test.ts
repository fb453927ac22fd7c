/** Runs the examples of docs/connect-your-bot.md unchanged, each with its interpreter if that is installed. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type http from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { serve } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '#test/test-app.ts'

const document = readFileSync(resolve(import.meta.dirname, '../../../docs/connect-your-bot.md'), 'utf8')
const node = join(import.meta.dirname, '../../../node_modules/.bin/node')

const interpreters = [
  { language: 'sh', command: 'sh', args: ['-c'], needs: ['curl'], player: 4711 },
  { language: 'ts', command: node, args: ['--input-type=module-typescript', '--eval'], needs: [], player: 4712 },
  { language: 'python', command: 'python3', args: ['-c'], needs: [], player: 4713 },
] as const

test.for(interpreters)(
  'design §8 the $language example of connect-your-bot.md claims a task for its player',
  async ({ language, command, args, needs, player }, { skip }) => {
    const examples = Array.from(
      document.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms')),
      ([, code = '']) => code,
    )
    expect(examples).toHaveLength(1)
    const missing = [command, ...needs].filter((program) => spawnSync(program, ['--version']).error)
    if (missing.length > 0) {
      const note = `A snippet is left out: ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not on this machine.`
      process.stdout.write(`${note}\n`)
      skip(note)
    }

    const app = await testApp()
    const admin = await app.signUp('admin')
    const task = { type: 'twitter', priority: 1, title: 'Follow us', reward: 500, link: 'https://x.com/arcade' }
    expect((await admin.call('POST', '/api/social-tasks', task)).status).toBe(200)
    const bot = await app.bot()

    await run({
      command,
      args: [...args, examples[0]!],
      url: await serveApp(app.nodeFetch),
      token: bot.headers['authorization']!,
    })

    const { body } = await bot.call('GET', `/bot/v1/players/${player}`)
    expect(body).toMatchObject({ player: { userId: player, balance: 500 }, rank: 1 })
  },
)

async function serveApp(fetch: Parameters<typeof serve>[0]['fetch']): Promise<string> {
  const listening = Promise.withResolvers<number>()
  const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => listening.resolve(port)) as http.Server
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${await listening.promise}`
}

interface Example {
  command: string
  args: readonly string[]
  url: string
  token: string
}

/** Runs an example in its own process. It must not block this one, which is the server. @throws Error with its output if it fails */
async function run({ command, args, url, token }: Example): Promise<void> {
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    CONSOLE_URL: url,
    CONSOLE_TOKEN: token.replace('Bearer ', ''),
  }
  await promisify(execFile)(command, args, { env, timeout: 60_000 })
}

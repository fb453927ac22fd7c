/**
 * `npm run dev` starts the server, which restarts when one of its modules changes, and Vite's server, which passes calls on to it.
 * Both end on Ctrl-C, or when one of them ends by itself.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { endAll, root, run } from './children.ts'
import { buildWeb } from './web-build.ts'

const WEB_PORT = '5173'
const port = process.env.PORT ?? '3000'
const env = { PORT: port, API_TARGET: `http://127.0.0.1:${port}`, FORCE_COLOR: process.stdout.isTTY ? '1' : undefined }

if (!existsSync(join(root, 'web/dist/index.html'))) await buildWeb() // the server serves a build too, on its own port

console.log(`Open http://localhost:${WEB_PORT} (the server is on port ${port})`)
await Promise.race([
  run('node', ['--watch', '--watch-preserve-output', 'server/src/main.ts'], { env, output: { prefix: 'server │ ' } }),
  run('vite', ['--port', WEB_PORT, '--strictPort', '--clearScreen', 'false'], {
    cwd: join(root, 'web'),
    env,
    output: { prefix: 'web    │ ' },
  }),
])
endAll('SIGTERM')

/** `npm start` builds the web app if its sources changed, then runs the server in this process, so that signals reach it. */
import { buildWeb } from './web-build.ts'

try {
  await buildWeb()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
await import(new URL('../server/src/main.ts', import.meta.url).href)

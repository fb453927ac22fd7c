/** `npm start`: the web app is built if it has to be, then this very process becomes the server, so that signals reach it. */
import { buildWeb } from './web-build.ts'

try {
  await buildWeb()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
await import(new URL('../server/src/main.ts', import.meta.url).href)

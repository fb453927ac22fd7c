/** `npm run screens`: takes the pictures of docs/screens anew, from the built app with the sample data. */
import { findChromium } from './chromium.ts'
import { run } from './children.ts'
import { buildWeb } from './web-build.ts'

await buildWeb()
const { code } = await run('playwright', ['test', '--config', 'screens.config.ts', '--workers', '1'], {
  cwd: new URL('../e2e', import.meta.url).pathname,
  env: { CHROMIUM_PATH: await findChromium() },
})
process.exitCode = code

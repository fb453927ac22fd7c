/** `npm run screens`: takes the pictures of docs/screens anew, from the built app with the sample as if its newest moment were now. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium } from './chromium.ts'
import { root, run } from './children.ts'
import { sampleUntil } from './demo.ts'
import { buildWeb } from './web-build.ts'

await buildWeb()
const folder = mkdtempSync(join(tmpdir(), 'arcade-screens-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const [file, content] of Object.entries(sampleUntil(new Date()))) writeFileSync(join(folder, file), content)
const { code } = await run('playwright', ['test', '--config', 'screens.config.ts', '--workers', '1'], {
  cwd: join(root, 'e2e'),
  env: { CHROMIUM_PATH: await findChromium(), SAMPLE_DIRECTORY: folder },
})
process.exitCode = code

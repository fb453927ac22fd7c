/**
 * `npm run screens` takes pictures of every screen of the built app into e2e/screens, with the sample moved in time so that it ends now. It
 * then replaces the pictures that the documents show (docs/screens).
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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
for (const name of readdirSync(join(root, 'docs/screens'))) {
  const picture = join(root, 'e2e/screens', name)
  if (code === 0 && existsSync(picture)) copyFileSync(picture, join(root, 'docs/screens', name))
}
process.exitCode = code

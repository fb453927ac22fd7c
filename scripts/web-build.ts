/** Builds the web app into web/dist if its sources changed. A kill at any time leaves the old build, the new one or none, never half. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root, run } from './children.ts'

const web = join(root, 'web')
const dist = join(web, 'dist')
const sources = [
  'web/{src,public}/**',
  'web/{index.html,package.json,tsconfig.json,vite.config.ts}',
  'contract/{package.json,src/**}',
  'package-lock.json',
]

/** Makes web/dist the build of the current sources. @throws Error with Vite's output if the build fails */
export async function buildWeb(): Promise<void> {
  const wanted = await hashOfSources()
  if ((await readFile(join(dist, '.sources'), 'utf8').catch(() => '')) === wanted) return

  console.error('Building the web app…')
  await removeLeftovers()
  const fresh = join(web, `.dist-${process.pid}`)
  const build = await run('vite', ['build', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn'], {
    cwd: web,
    env: { NODE_ENV: 'production' },
    output: 'capture',
  })
  if (build.code !== 0) {
    await rm(fresh, { recursive: true, force: true })
    throw new Error(`The web app could not be built (vite build ended with ${build.code}):\n${build.output}`)
  }
  await writeFile(join(fresh, '.sources'), wanted)
  await replaceDist(fresh)
}

/** Returns a hash of the names and contents of the sources, so that a renamed or removed file counts as a change. */
async function hashOfSources(): Promise<string> {
  const files: string[] = []
  for await (const entry of glob(sources, { cwd: root, withFileTypes: true }))
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name))
  files.sort()
  const hash = createHash('sha256')
  const contents = await Promise.all(files.map((file) => readFile(file)))
  for (const [index, content] of contents.entries()) hash.update(`${files[index]}\0${content.length}\0`).update(content)
  return hash.digest('hex')
}

async function replaceDist(fresh: string): Promise<void> {
  const old = `${fresh}-old`
  if (existsSync(dist)) await rename(dist, old).catch(ignoreMissing)
  await rename(fresh, dist).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY') throw error // otherwise another process has just put its own build of the same sources there
  })
  await Promise.all([fresh, old].map((folder) => rm(folder, { recursive: true, force: true })))
}

/** Removes the folders of builds whose process has ended. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(web)) {
    const pid = /^\.dist-(\d+)/.exec(name)?.[1]
    if (pid && !isRunning(Number(pid))) await rm(join(web, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

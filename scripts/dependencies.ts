/**
 * Checks the rules for dependencies: exact versions, one version of each package, a lockfile that is up to date, with every integrity hash
 * and without addresses of registries, and a reason for each dependency in docs/dependencies.md.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './children.ts'

const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const

type Manifest = { workspaces?: string[] } & Partial<Record<(typeof kinds)[number], Record<string, string>>>

interface Lockfile {
  packages: Record<
    string,
    Manifest & { version?: string; resolved?: string; integrity?: string; link?: boolean; inBundle?: boolean }
  >
}

/** Returns one sentence for each violation. */
export async function findProblems(base: string): Promise<string[]> {
  const read = (file: string): Promise<string> => readFile(join(base, file), 'utf8')
  const rootManifest = JSON.parse(await read('package.json')) as Manifest
  const folders = ['', ...(rootManifest.workspaces ?? [])]
  const manifests = await Promise.all(
    folders.map(async (folder) => JSON.parse(await read(join(folder, 'package.json'))) as Manifest),
  )
  const lockfile = JSON.parse(await read('package-lock.json')) as Lockfile
  const listed = versionsInTables(await read('docs/dependencies.md'))

  const problems: string[] = []
  const versions = new Map<string, string>()
  for (const [index, manifest] of manifests.entries()) {
    const file = join(folders[index] ?? '', 'package.json')
    for (const kind of kinds) {
      const wanted = manifest[kind] ?? {}
      const locked = lockfile.packages[folders[index] ?? '']?.[kind] ?? {}
      for (const name of new Set([...Object.keys(wanted), ...Object.keys(locked)])) {
        if (wanted[name] !== locked[name])
          problems.push(`package-lock.json: ${name} of ${file} is not up to date. Run npm install.`)
      }
      for (const [name, version] of Object.entries(wanted)) {
        if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
          problems.push(`${file}: ${name} must be an exact version, not ${version}.`)
        const other = versions.get(name) ?? version
        if (other !== version) problems.push(`${file}: ${name} is ${version} here and ${other} elsewhere.`)
        versions.set(name, version)
      }
    }
  }

  for (const [path, { version, resolved, integrity, link, inBundle }] of Object.entries(lockfile.packages)) {
    if (resolved && /^\w+:\/\//.test(resolved))
      problems.push(`package-lock.json: ${path} has a registry's address. npm config set omit-lockfile-registry-resolved=true`)
    if (path.includes('node_modules/') && !link && !inBundle && !integrity)
      problems.push(`package-lock.json: ${path} ${version} has no integrity.`)
  }

  for (const [name, version] of versions) {
    if (name.startsWith('@arcade/')) continue
    if (!listed.has(name)) problems.push(`docs/dependencies.md: ${name} ${version} is missing. Say there what it is for.`)
    else if (listed.get(name) !== version) problems.push(`docs/dependencies.md: ${name} is ${version}, not ${listed.get(name)}.`)
  }
  for (const name of listed.keys())
    if (!versions.has(name)) problems.push(`docs/dependencies.md: ${name} is no longer a dependency.`)
  return problems
}

/** Returns the versions in rows like `| name | version | reason |`. The first cell may name several packages of one version. */
function versionsInTables(markdown: string): Map<string, string> {
  const versions = new Map<string, string>()
  for (const [, names = '', version = ''] of markdown.matchAll(/^\| *(`[^|]+`) *\| *(\d[^ |]*) *\|/gm)) {
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g)) versions.set(name, version)
  }
  return versions
}

if (import.meta.main) {
  const problems = await findProblems(root)
  for (const problem of problems) console.log(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}

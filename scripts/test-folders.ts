/** The projects of Vitest, which are parts of `npm test`, and the folders of their tests. `faults` runs by its name or with `all`. */
export const testFolders: Readonly<Record<string, string>> = {
  contract: 'contract',
  server: 'server',
  web: 'web',
  scripts: 'scripts',
  game: 'examples/game',
  faults: 'server/test/faults',
}

/** Returns the project that runs a test file: of the folders around it, the innermost one's. */
export function projectOf(file: string): string | undefined {
  const around = Object.entries(testFolders).filter(([, folder]) => file.startsWith(`${folder}/`))
  return around.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0]
}

/** The projects of Vitest, and the folders of their tests. */
export const testFolders: Readonly<Record<string, string>> = {
  contract: 'contract',
  server: 'server',
  web: 'web',
  scripts: 'scripts',
  game: 'examples/game',
  databases: 'server/test/databases',
  faults: 'server/test/faults',
}

/** The parts that `npm test` leaves out because they take long. They run by their names (`npm test -- faults`) or with `all`. */
export const longParts: readonly string[] = ['databases', 'faults', 'e2e']

/** Returns the project that runs a test file: of the folders around it, the innermost one's. */
export function projectOf(file: string): string | undefined {
  const around = Object.entries(testFolders).filter(([, folder]) => file.startsWith(`${folder}/`))
  return around.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0]
}

/** Lists the files of a directory that is to be imported. */
import { readdir } from 'node:fs/promises'
import { StartError } from '#src/postgres/errors.ts'

/** Returns the names that end in `.ndjson`. @throws StartError if the directory cannot be read */
export async function listFiles(directory: string): Promise<{ files: string[]; folders: string[] }> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const named = entries.filter(({ name }) => name.endsWith('.ndjson')).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const [folders = [], files = []] = [true, false].map((isFolder) =>
      named.flatMap((entry) => (entry.isDirectory() === isFolder ? entry.name : [])),
    )
    return { files, folders }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new StartError(`There is no directory ${directory}.`, { cause: error })
    if (code === 'ENOTDIR') throw new StartError(`${directory} is not a directory.`, { cause: error })
    throw new StartError(`${directory} cannot be read: ${message}`, { cause: error })
  }
}

/** Makes DATA_DIR if it does not exist, and refuses it with one sentence if it cannot be used. */
import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { StartError } from './errors.ts'

/** Makes the folder, which PostgreSQL's user can enter if this process is root, and otherwise only its owner. @throws StartError */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const owner = (await stat(dataDir).catch(() => undefined))?.uid
    const why =
      owner === undefined || owner === process.getuid?.()
        ? `cannot be used: ${(error as Error).message}`
        : `belongs to user ${owner}: start Arcade Console as that user or as root, or choose another DATA_DIR.`
    throw new StartError(`DATA_DIR ${dataDir} ${why}`, { cause: error })
  }
}

/** DATA_DIR: made where there is none, and refused in one sentence where it cannot be used. */
import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { StartError } from './errors.ts'

/** Where this process is root, PostgreSQL's user has to enter it, else its owner alone. @throws StartError */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartError(`DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

/** Runs a load in its own process and session, so that its processor time does not count as the server's. */
import { fork } from 'node:child_process'
import { join } from 'node:path'

/** Runs a file of this folder, which must call `answerParent`, and returns its result. */
export async function inProcess<Result>(file: string, load: object): Promise<Result> {
  const child = fork(join(import.meta.dirname, file), { detached: true })
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  child.once('message', (result) => resolve(result as Result))
  child.once('exit', (code) => reject(new Error(`${file} ended with ${code} and no result`)))
  child.send(load)
  return promise
}

/** In the child: runs `work` with the parent's load and sends the result back. Ends when the parent ends. */
export function answerParent(work: (load: never) => Promise<unknown>): void {
  process.once('disconnect', () => process.exit()) // the parent has ended, or has received the result
  process.once('message', (load) => {
    void work(load as never).then((result) => process.send?.(result, () => process.disconnect()))
  })
}

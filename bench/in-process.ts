/** A load in a process of its own, whose processor time is not the server's, and in a session of its own. */
import { fork } from 'node:child_process'
import { join } from 'node:path'

/** Runs a file of this folder that ends with `answerParent`. */
export async function inProcess<Result>(file: string, load: object): Promise<Result> {
  const child = fork(join(import.meta.dirname, file), { detached: true })
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  child.once('message', (result) => resolve(result as Result))
  child.once('exit', (code) => reject(new Error(`${file} ended with ${code} and no result`)))
  child.send(load)
  return promise
}

/** Does in the child what its parent asks for, and ends with it. */
export function answerParent(work: (load: never) => Promise<unknown>): void {
  process.once('disconnect', () => process.exit()) // who started it has ended, or has the result
  process.once('message', (load) => {
    void work(load as never).then((result) => process.send?.(result, () => process.disconnect()))
  })
}

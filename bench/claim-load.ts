/** The claims of operators.bench.ts, in a process of their own, whose processor time is not the server's. */
import { type Claiming, claimUntil } from './claiming.ts'

process.once('disconnect', () => process.exit()) // who started it has ended, or has the result
process.once('message', (claiming) => {
  void claimUntil(claiming as Claiming).then((claimed) => process.send?.(claimed, () => process.disconnect()))
})

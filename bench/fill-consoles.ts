/** Fills the consoles that several benches use, both at the same time, before anything is measured. */
import { fillOnce, generated, seeded } from './consoles.ts'

const folder = process.env['BENCH_CONSOLES']
if (folder === undefined) throw new Error('BENCH_CONSOLES must name the folder of the filled consoles')
await Promise.all([seeded(1_000_000), generated(1_000_000)].map((filling) => fillOnce(folder, filling)))


import { startBenchServer } from './measuring.ts'
const server = await startBenchServer({ DATA_DIR: '/tmp/exp-data' })

await server.stop()

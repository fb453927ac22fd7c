/** Runs the S3 server in its own process, so that a busy test cannot slow it down. Prints its address; ends when its stdin ends. */
import { startS3Server } from './s3-server.ts'

const server = await startS3Server({ isListed: true })
process.stdout.write(`${server.url}\n`)
process.stdin.resume().once('end', () => void server.stop().finally(() => process.exit()))

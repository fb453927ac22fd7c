/** The S3 server as a process of its own, which tells its address and ends with its input: what a test does meanwhile cannot make it slow. */
import { startS3Server } from './s3-server.ts'

const server = await startS3Server({ isListed: true })
process.stdout.write(`${server.url}\n`)
process.stdin.resume().once('end', () => void server.stop().finally(() => process.exit()))

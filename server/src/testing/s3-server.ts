/** An S3 server on loopback for a test file: a real one over HTTP that checks signatures. */
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import S3rver from '@20minutes/s3rver'

export interface S3Server {
  /** For FILES_URL. */
  url: string
  stop(): Promise<void>
}

/**
 * Starts it with one empty bucket, and makes its credentials the environment's.
 * @param isListed whether the test lists objects: of such requests this server works the signature out from another path than was signed
 */
export async function startS3Server({ isListed = false } = {}): Promise<S3Server> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    allowMismatchedSignatures: isListed,
    directory,
    configureBuckets: [{ name: 'arcade', configs: [] }],
  })
  const { port } = await server.run()
  process.env['AWS_ACCESS_KEY_ID'] = 'S3RVER'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'S3RVER'
  return {
    url: `s3://arcade/console?endpoint=http://127.0.0.1:${port}`,
    async stop() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The same server to somebody who may read only: it refuses to store and remove, in Amazon's words. */
export async function startReadOnly({ url }: S3Server): Promise<S3Server> {
  const { port } = new URL(new URL(url).searchParams.get('endpoint')!)
  const gate = http.createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      request.resume()
      response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>')
      return
    }
    const { method, url: target, headers } = request
    http
      .request({ host: '127.0.0.1', port, method, path: target, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      .on('error', () => response.destroy())
      .end()
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const { port: gatePort } = gate.address() as AddressInfo
  return {
    url: url.replace(`:${port}`, `:${gatePort}`),
    async stop() {
      gate.closeAllConnections()
      await new Promise((resolve) => gate.close(resolve))
    },
  }
}

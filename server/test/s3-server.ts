/** An S3 server on loopback for a test file: a real one over HTTP that checks signatures. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import S3rver from '@20minutes/s3rver'

export interface S3Server {
  /** For FILES_URL. */
  url: string
  stop(): Promise<void>
}

/** What a process needs in its environment to use it. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }

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
  Object.assign(process.env, S3_CREDENTIALS)
  return {
    url: `s3://arcade/console?endpoint=http://127.0.0.1:${port}`,
    async stop() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Starts one that lists objects in a process of its own: for a test that keeps its own process busy. */
export async function startS3Process(): Promise<S3Server> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  Object.assign(process.env, S3_CREDENTIALS)
  return {
    url,
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}

const PROGRAM = fileURLToPath(new URL('./s3-process.ts', import.meta.url))

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

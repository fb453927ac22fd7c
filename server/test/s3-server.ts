/** Starts a real S3 server over HTTP on loopback, which checks signatures. */
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
  /** The value for FILES_URL. */
  url: string
  stop(): Promise<void>
}

/** The environment variables that a process needs to use the server. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }

/**
 * Starts the server with one empty bucket and puts its credentials into process.env.
 * @param isListed turns the check of signatures off. Tests that list objects need it: s3rver computes those signatures from another path
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

/** Starts a server with `isListed` in its own process, for tests that keep their process busy. */
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

/** Starts a proxy to the server that allows only reading: it answers writes with 403 `AccessDenied`, as Amazon S3 does. */
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

/**
 * Builds a page with Vite when the process starts, and serves it from memory, so that the example needs no build step. A larger game would
 * build its Mini App once and put it on a CDN.
 */
import { extname, join } from 'node:path'
import react from '@vitejs/plugin-react'
import { Hono } from 'hono'
import { build } from 'vite'

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** @param folder a folder below src/ with an index.html */
export async function buildPage(folder: string): Promise<Hono> {
  const built = await build({
    root: join(import.meta.dirname, folder),
    configFile: false,
    logLevel: 'warn',
    plugins: [react()],
    // Without it, the build warns on a slow machine that it takes seconds, although nothing is wrong.
    build: { write: false, target: 'es2023', rolldownOptions: { checks: { bundlerTimings: false } } },
  })
  const files = [built].flat().flatMap((result) => ('output' in result ? result.output : []))
  const page = new Hono()
  for (const file of files) {
    const body = file.type === 'chunk' ? file.code : (file.source as string)
    const headers = {
      'content-type': mediaTypes[extname(file.fileName)] ?? 'application/octet-stream',
      'cache-control': file.fileName === 'index.html' ? 'no-cache' : 'max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    }
    page.get(file.fileName === 'index.html' ? '/' : `/${file.fileName}`, (c) => c.body(body, 200, headers))
  }
  return page
}

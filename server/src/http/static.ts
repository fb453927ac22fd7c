/** Serves the built web app from memory, compressed once: no path of a request reaches the file system. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { SIGNED_OUT_PAGE, dashboardTitle } from '@arcade/contract/pages'
import type { Answer } from './answer.ts'
import { type Asset, ASK_EACH_TIME, assetAnswer, createAsset } from './asset.ts'

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

/** The part of a session's answer that the page needs. */
export interface PageSession {
  user: { userType: string } | null
}

export interface WebApp {
  /** Returns a file of the build, or `undefined` if there is no file at this path. */
  file(request: Request, pathname: string): Answer | undefined
  /**
   * Returns the page for every URL of the app. It contains the answer of GET /api/session and links to the files of the first page, so that
   * the browser loads all of them at once instead of one after the other. Its loading screen already shows parts of that page.
   */
  page(session: PageSession | null, pathname: string): Answer
}

/** Loads the build below `directory`. @throws Error if there is none */
export async function loadWebApp(directory: string): Promise<WebApp> {
  const assets = new Map<string, Asset>()
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue
    const file = join(entry.parentPath, entry.name)
    assets.set(`/${relative(directory, file).split(sep).join('/')}`, await loadAsset(file))
  }
  const [index, firstPages] = [decodeAsset(assets, '/index.html'), decodeAsset(assets, '/first-pages.json')]
  const [beforeSession, afterSession] = index?.split(SESSION_PLACE) ?? []
  if (beforeSession === undefined || afterSession === undefined || firstPages === undefined)
    throw new Error(`there is no built web app in ${directory}`)
  const { signedIn, signedOut, later } = JSON.parse(firstPages) as Record<'signedIn' | 'signedOut' | 'later', string[]>
  const pageWith = (files: string[], ahead: string[]): string =>
    beforeSession.replace('</head>', `${linksTo(files)}${linksAhead(ahead, files)}</head>`)
  const [signedInPage, signedOutPage] = [pageWith(signedIn, later), pageWith(signedOut, [...signedIn, ...later])]
  return {
    file(request, pathname) {
      const asset = assets.get(pathname)
      return asset && assetAnswer(request, asset)
    },
    page(session, pathname) {
      // In a script element, `<` could end the element (HTML, 4.12.1.3).
      const json = JSON.stringify(session).replaceAll('<', String.raw`\u003c`)
      const before = session?.user ? signedInPage : signedOutPage
      const body = `${before.replace(LOADING_SCREEN, loadingScreen(session, pathname))}${json}${afterSession}`
      return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body }
    },
  }
}

/** The placeholder in index.html for the session, which web/src/session.tsx reads. */
const SESSION_PLACE = '"the session"'

/** The start tag of the loading screen in index.html. */
const LOADING_SCREEN = '<main class="app-loading">'

/** Returns the loading screen: Login's picture or the dashboard's heading, where the page will show them, with the spinner. */
function loadingScreen(session: PageSession | null, pathname: string): string {
  if (session === null) return LOADING_SCREEN
  const isDashboard = pathname === '/' || pathname === '/admin'
  if (!session.user) return SIGNED_OUT_PAGE.test(pathname) ? LOADING_SCREEN : '<main class="app-loading" data-for="login">'
  const title = dashboardTitle(session.user.userType)
  return isDashboard ? `${LOADING_SCREEN}<p class="app-loading-title" aria-hidden="true">${title}</p>` : LOADING_SCREEN
}

/** Returns the text of a file that only the server needs, and removes it from the files that browsers can request. */
function decodeAsset(assets: Map<string, Asset>, name: string): string | undefined {
  const asset = assets.get(name)
  assets.delete(name)
  return asset && new TextDecoder().decode(asset.plain)
}

/** Returns the tags that Vite's loader would write. The loader finds them and does not load the files again. */
function linksTo(files: string[]): string {
  return files.map((file) => `<link ${linkOf(file)} href="${file}">`).join('')
}

function linkOf(file: string): string {
  if (file.endsWith('.css')) return 'rel="stylesheet" crossorigin'
  if (file.endsWith('.woff2')) return 'rel="preload" as="font" crossorigin'
  return file.endsWith('.svg') ? 'rel="preload" as="image"' : 'rel="modulepreload" crossorigin'
}

/** Returns the links to files that the page does not need at once. web/src/start.tsx makes the browser fetch them when the page is shown. */
function linksAhead(ahead: string[], files: string[]): string {
  const links = [...new Set(ahead)]
    .filter((file) => !files.includes(file))
    .map((file) => `<link rel="prefetch" crossorigin href="${file}">`)
  return `<template id="fetch-ahead">${links.join('')}</template>`
}

async function loadAsset(file: string): Promise<Asset> {
  const isHashed = file.includes(`${sep}assets${sep}`)
  return createAsset(new Uint8Array(await readFile(file)), {
    type: mediaTypes[extname(file)] ?? 'application/octet-stream',
    cacheControl: isHashed ? 'public, max-age=31536000, immutable' : ASK_EACH_TIME,
  })
}

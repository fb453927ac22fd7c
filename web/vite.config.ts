/** The web app's build. It keeps the contract's schemas out of the initial load: the client gets only paths and methods of the calls. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, runnerImport } from 'vite'

const CONTRACT_ROUTES = 'virtual:contract-routes'

/** Paths that the development server proxies to the API; those outside /api are defined in §7. */
const backendPaths = [
  '/api',
  '/downloadUsersData',
  '/downloadTelegramUsersData',
  '/download-history',
  '/registerUser',
  '/removeUser',
  '/update-users-status',
]

const target = process.env['API_TARGET'] ?? 'http://127.0.0.1:3000'

/**
 * Bundles the modules that every page, Login and the signed-in pages need into one file each, with their imports, and those that several
 * pages share: a few files are smaller and load faster than eighty. A module that several groups need goes to the first of them.
 */
const fileGroups = [
  { name: 'imports', test: /preload-helper|rolldown[/-]runtime/, priority: 1 }, // All that the entry needs before the first frame.
  {
    name: 'start',
    test: /web\/src\/(app|ui\/(logo|toast))\.tsx$|node_modules\/(react|react-dom|scheduler|@tanstack\/(react-)?query[^/]*|@orpc|@mantine\/core\/esm\/core)\//,
  },
  { name: 'login', test: /web\/src\/features\/auth\/login-page\.tsx$/ },
  {
    name: 'signed-in',
    test: /web\/src\/(routes|shell\/shell|features\/dashboard\/dashboard-page|lists\/row-mark)\.tsx$|contract\/src\/([\w-]+\/fields|entity|lists|search)\.ts$/,
  },
  { name: 'schemas', test: /node_modules\/zod\/|contract\/src\//, minShareCount: 3 }, // pages that check input
  { name: 'pages', minShareCount: 4 }, // lists, forms, dialogs
]

const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8')) as { version: string }

export default defineConfig({
  plugins: [react(), contractRoutes(), firstPages()],
  define: { PRODUCT_VERSION: JSON.stringify(version) },
  server: { proxy: Object.fromEntries(backendPaths.map((path) => [path, { target }])) },
  build: {
    outDir: process.env['WEB_OUT_DIR'] ?? 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { codeSplitting: { groups: fileGroups } },
      // Tells the bundler which functions have no side effects, so that a page gets only the schemas it uses.
      treeshake: {
        manualPureFunctions: ['call', 'z', 'oc', 'defineList', 'rowSchema', 'filterSchema', 'orderFields', 'targetSchema'],
      },
    },
  },
})

/**
 * The modules of the first pages. The server lists their files in index.html, so that they load together with the app. Files of `later` are
 * prefetched, so that error messages and questions can still be shown when the connection is lost.
 */
const firstModules = {
  signedOut: ['src/start.tsx', 'src/features/auth/login-page.tsx'],
  signedIn: ['src/start.tsx', 'src/routes.tsx', 'src/shell/shell.tsx', 'src/features/dashboard/dashboard-page.tsx'],
  later: ['src/ui/toast-region.tsx', 'src/ui/confirm-dialog.tsx'],
}

/** The background of Login and of the loading screen before it. Listed so that it loads before the style sheets that refer to it. */
const loginPicture = 'src/ui/cabinet.svg'

/** Inter's Latin letters, which every page shows. Listed so that they are there before the first text is drawn. */
const latinFont = /inter-latin-wght-normal-[\w-]+\.woff2$/

/** Writes `first-pages.json`: font, scripts and style sheets of the first pages, without those that the entry loads anyway. */
function firstPages(): Plugin {
  return {
    name: 'first-pages',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
      const withImports = (name: string, found = new Set<string>()): Set<string> => {
        if (found.has(name)) return found
        found.add(name)
        for (const imported of byName.get(name)?.imports ?? []) withImports(imported, found)
        return found
      }
      const entry = withImports(chunks.find(({ isEntry }) => isEntry)?.fileName ?? '')
      const filesOf = (modules: string[]): string[] => {
        const own = modules.map((module) => chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/web/${module}`)))
        const names = new Set(own.flatMap((chunk) => [...withImports(chunk?.fileName ?? '')]))
        const scripts = [...names].filter((name) => byName.has(name) && !entry.has(name))
        const styles = scripts.flatMap((name) => [...(byName.get(name)?.viteMetadata?.importedCss ?? [])])
        return [...styles, ...scripts].map((name) => `/${name}`)
      }
      const picture = Object.values(bundle).find((file) => file.type === 'asset' && file.originalFileNames.includes(loginPicture))
      const font = Object.keys(bundle).find((name) => latinFont.test(name))
      const signedOut = [`/${font}`, `/${picture?.fileName}`, ...filesOf(firstModules.signedOut)]
      const [signedIn, later] = [[`/${font}`, ...filesOf(firstModules.signedIn)], filesOf(firstModules.later)]
      const source = JSON.stringify({ signedOut, signedIn, later })
      this.emitFile({ type: 'asset', fileName: 'first-pages.json', source })
    },
  }
}

/** Provides `virtual:contract-routes`: paths and methods of the calls, and their error texts. `contract-routes.d.ts` has its types. */
function contractRoutes(): Plugin {
  return {
    name: 'contract-routes',
    resolveId: (id) => (id === CONTRACT_ROUTES ? `\0${CONTRACT_ROUTES}` : undefined),
    async load(id) {
      if (id !== `\0${CONTRACT_ROUTES}`) return undefined
      const { module, dependencies } = await runnerImport<{ contract: object }>('@arcade/contract/contract')
      const errors = await runnerImport<{ errorCatalogue: ErrorCatalogue }>('@arcade/contract/errors')
      for (const file of [...dependencies, ...errors.dependencies]) this.addWatchFile(resolve(file))
      const texts = Object.fromEntries(failureTexts(module.contract, errors.module.errorCatalogue))
      return `export const contractRoutes = ${JSON.stringify(routesOf(module.contract))}
export const failureTexts = ${JSON.stringify(texts)}`
    },
  }
}

type ErrorCatalogue = Record<string, { message: string }>

interface Procedure {
  '~orpc': {
    meta: { unexpected: string; access: readonly string[] }
    route: { method?: string; path?: string; inputStructure?: string; outputStructure?: string }
  }
}

/** Returns the routes without calls that only bots and players' clients use. */
function routesOf(node: object): object {
  if (!isProcedure(node)) {
    const parts = Object.entries(node).filter(([, child]) => !isProcedure(child as object) || isForPeople(child as Procedure))
    const routes = parts.map(([key, child]) => [key, routesOf(child as object)] as const)
    return Object.fromEntries(routes.filter(([, child]) => Object.keys(child).length > 0))
  }
  const { method, path, inputStructure, outputStructure } = node['~orpc'].route
  return { '~orpc': { errorMap: {}, meta: {}, route: { method, path, inputStructure, outputStructure } } }
}

function isForPeople(procedure: Procedure): boolean {
  return procedure['~orpc'].meta.access.some((one) => one === 'guest' || one === 'user' || one === 'admin')
}

/** Returns the calls that have their own text for an unexpected failure (§8), by path in the contract. */
function failureTexts(node: object, catalogue: ErrorCatalogue, path: string[] = []): [string, string][] {
  if (!isProcedure(node)) return Object.entries(node).flatMap(([key, child]) => failureTexts(child, catalogue, [...path, key]))
  const { unexpected } = node['~orpc'].meta
  return unexpected === 'INTERNAL' ? [] : [[path.join('.'), catalogue[unexpected]?.message ?? '']]
}

function isProcedure(node: object): node is Procedure {
  return '~orpc' in node
}
